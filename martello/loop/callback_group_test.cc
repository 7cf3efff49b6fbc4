#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/callback_group.h>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;

class FakeContext : public TrainContext {
 public:
  const TrainLoop& loop() const override { return loop_; }
  Graph graph() const override { return graph_; }
  bool is_chief() const override { return true; }
  Session& sess() const override { return *session_; }
  HookedSession& hooked_sess() const override { throw InternalError("not here"); }
  Monitors& monitors() const override { throw InternalError("not here"); }
  CommitPoint& commit_point() const override { throw InternalError("not here"); }
  TowerHandles towers() const override { return {}; }
  Tensor get_tensor(std::string_view name, SourceLine line) const override { return graph_.get_tensor(name, line); }
  OnlinePredictor get_predictor(const std::vector<std::string>&, const std::vector<std::string>&, int) override {
    return {};
  }
  TowerHandle build_predict_tower(std::string_view, int, TowerFunc*, const std::function<TensorList()>&) override {
    throw InternalError("not here");
  }
  const std::vector<TensorSpec>& input_signature() const override { throw InternalError("not here"); }

  TrainLoop loop_;
  Graph graph_;
  std::unique_ptr<Session> session_ = std::make_unique<Session>(graph_);
};

using Lines = std::vector<std::string>;

// Writes down its hooks and does something in one of them.
struct Probe : Callback {
  Probe(std::string n, Lines& l) : title(std::move(n)), lines(l) {}
  std::string name() const override { return title; }
  void note(const std::string& hook) {
    lines.push_back(title + "." + hook);
    if (hook == when) act();
  }
  void setup_graph() override { note("setup_graph"); }
  void before_train() override { note("before_train"); }
  void before_run(RunContext&) override { note("before_run"); }
  void after_run(RunContext&) override { note("after_run"); }
  void trigger_step() override { note("trigger_step"); }
  void trigger() override { note("trigger"); }
  void after_train() override { note("after_train"); }
  std::vector<std::string> needs() const override { return needed; }
  std::vector<std::string> provides() const override { return provided; }
  int64_t epoch() const { return epoch_num(); }

  std::string title;
  Lines& lines;
  std::string when;
  std::function<void()> act;
  Lines needed, provided;
};

struct CallbackGroupTest : ::testing::Test {
  std::shared_ptr<Probe> probe(const std::string& name) { return make<Probe>(name, lines); }
  FakeContext context;
  Lines lines;
};

TEST_F(CallbackGroupTest, runs_phases_in_order_and_trigger_epoch_triggers) {
  CallbackGroup group({probe("a"), probe("b")}, context);
  EXPECT_EQ(group.run(Phase::before_train), 2u);
  group.trigger_step();
  group.run(Phase::trigger_epoch);
  EXPECT_FALSE(group.after_train());
  EXPECT_EQ(lines, (Lines{"a.before_train", "b.before_train", "a.trigger_step", "b.trigger_step", "a.trigger",
                          "b.trigger", "a.after_train", "b.after_train"}));
}

TEST_F(CallbackGroupTest, a_stop_lets_the_others_have_their_turn) {
  const auto a = probe("a"), b = probe("b");
  a->when = b->when = "trigger_step";
  a->act = [] { throw StopTraining("enough"); };
  b->act = [] { throw StopTraining("later"); };
  CallbackGroup group({a, b}, context);
  group.trigger_step();
  EXPECT_EQ(lines, (Lines{"a.trigger_step", "b.trigger_step"}));
  EXPECT_EQ(group.stop_reason(), "enough");
}

TEST_F(CallbackGroupTest, a_stop_in_before_run_lets_the_hooks_finish_and_makes_no_run) {
  const auto a = probe("a"), b = probe("b");
  CallbackGroup group({a, b}, context);
  HookedSession hooked(*context.session_, group.hooks());
  hooked.run({});
  EXPECT_EQ(lines, (Lines{"a.before_run", "b.before_run", "a.after_run", "b.after_run"}));
  lines.clear();
  a->when = "before_run";
  a->act = [] { throw StopTraining("enough"); };
  EXPECT_CONTAINS(error_of<StopTraining>([&] { hooked.run({}); }), "enough");
  EXPECT_EQ(lines, (Lines{"a.before_run", "b.before_run"}));
}

TEST_F(CallbackGroupTest, a_stop_in_after_run_lets_the_hooks_finish) {
  const auto a = probe("a"), b = probe("b");
  a->when = "after_run";
  a->act = [] { throw StopTraining("enough"); };
  CallbackGroup group({a, b}, context);
  HookedSession hooked(*context.session_, group.hooks());
  EXPECT_THROW(hooked.run({}), StopTraining);
  EXPECT_EQ(lines, (Lines{"a.before_run", "b.before_run", "a.after_run", "b.after_run"}));
}

TEST_F(CallbackGroupTest, an_error_ends_the_phase_and_says_where_it_was) {
  const auto a = probe("a");
  a->when = "before_train";
  a->act = [] { throw InvalidArgument("[mine] broken."); };
  CallbackGroup group({a, probe("b")}, context);
  const std::string text = error_of<InvalidArgument>([&] { group.run(Phase::before_train); });
  EXPECT_CONTAINS(text, "[mine] broken.");
  EXPECT_CONTAINS(text, "in before_train of callback 'a'");
  EXPECT_EQ(lines, (Lines{"a.before_train"}));
}

TEST_F(CallbackGroupTest, after_train_runs_for_all_and_keeps_the_first_error) {
  Log log;
  const auto a = probe("a"), b = probe("b"), c = probe("c");
  a->when = b->when = c->when = "after_train";
  a->act = [] { throw InvalidArgument("first"); };
  b->act = [] { throw StopTraining("does not matter any more"); };
  c->act = [] { throw std::runtime_error("second"); };
  CallbackGroup group({a, b, c}, context);
  const std::exception_ptr error = group.after_train();
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { std::rethrow_exception(error); }), "first");
  EXPECT_EQ(log.lines.size(), 3u);
}

TEST_F(CallbackGroupTest, a_phase_may_be_broken_off_between_two_callbacks) {
  const auto a = probe("a");
  bool is_over = false;
  a->when = "trigger";
  a->act = [&] { is_over = true; };
  CallbackGroup group({a, probe("b")}, context);
  EXPECT_EQ(group.run(Phase::trigger_epoch, [&] { return is_over; }), 1u);
  EXPECT_EQ(lines, (Lines{"a.trigger"}));
}

TEST_F(CallbackGroupTest, setup_graph_has_a_name_scope_of_its_own) {
  const auto a = probe("Make_It"), b = probe("Make_It");
  Lines names;
  a->when = b->when = "setup_graph";
  a->act = b->act = [&] { names.push_back(constant(HostTensor(1.f), "one").name()); };
  const GraphScope scope(context.graph_);
  const NameScope around("around");
  CallbackGroup({a, b}, context).setup_graph();
  EXPECT_EQ(names, (Lines{"MakeIt/one", "MakeIt_1/one"}));
}

TEST_F(CallbackGroupTest, a_stop_before_training_has_begun_is_refused) {
  const auto a = probe("a");
  a->when = "setup_graph";
  a->act = [] { throw StopTraining("enough"); };
  CallbackGroup group({a}, context);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { group.setup_graph(); }), "enough");
}

struct Nameless : Callback {
  void ask() { sess(); }
};

TEST_F(CallbackGroupTest, the_context_exists_from_setup_to_after_train_only) {
  const auto callback = make<Nameless>();
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { callback->ask(); }), "[callback 'Nameless']");
  CallbackGroup group({callback}, context);
  EXPECT_NO_THROW(callback->ask());
  group.after_train();
  EXPECT_THROW(callback->ask(), FailedPrecondition);
}

struct Wrapper : Callback {
  explicit Wrapper(Ref<Callback> c) : inner(std::move(c)) {}
  CallbackList inner_callbacks() const override { return {inner}; }
  Ref<Callback> inner;
};

TEST_F(CallbackGroupTest, what_a_wrapper_wraps_has_its_context) {
  const auto inner = probe("inner");
  context.loop_.epoch_num = 7;
  {
    CallbackGroup group({Wrapper(Wrapper(inner))}, context);
    EXPECT_EQ(inner->epoch(), 7);
  }
  EXPECT_THROW(inner->epoch(), FailedPrecondition);
}

TEST_F(CallbackGroupTest, refuses_a_null_callback) {
  EXPECT_CONTAINS(error_of([&] { CallbackGroup group({probe("a"), nullptr}, context); }), "callback 1 is null");
}

TEST_F(CallbackGroupTest, tells_which_callbacks_are_slow) {
  Log log;
  const auto a = probe("quick"), b = probe("sleepy");
  b->when = "trigger";
  b->act = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  CallbackGroup group({a, b}, context, {.phase_seconds = 0.01, .member_seconds = 0.01});
  group.run(Phase::trigger_epoch);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_CONTAINS(log.lines[0], "trigger_epoch took");
  EXPECT_CONTAINS(log.lines[0], "sleepy");
  EXPECT_EQ(log.lines[0].find("quick"), std::string::npos);
}

TEST_F(CallbackGroupTest, tells_which_callbacks_slow_every_step) {
  Log log;
  const auto a = probe("sleepy");
  a->when = "trigger_step";
  a->act = [&] {
    if (lines.size() > 120) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  CallbackGroup group({a, probe("quick")}, context, {.step_seconds = 0.1});
  for (int i = 0; i < 64; ++i) group.trigger_step();
  group.report_slow_steps(0.2);
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_CONTAINS(log.lines[0], "sleepy.trigger_step");
  for (const HookTime& t : group.times()) EXPECT_EQ(t.calls, 64) << "one step of 64 is timed";
  group.report_slow_steps(0.2);
  EXPECT_EQ(log.lines.size(), 1u) << "nothing new happened";
}

Lines names_of(const CallbackList& list) {
  Lines names;
  for (const auto& c : list) names.push_back(c->name());
  return names;
}

TEST_F(CallbackGroupTest, whoever_needs_a_scalar_comes_after_its_provider) {
  Log log;
  const auto saver = probe("saver"), other = probe("other"), runner = probe("runner"), last = probe("last");
  saver->needed = {"error", "of nobody"};
  runner->provided = {"error", "cost"};
  last->needed = {"cost"};
  EXPECT_EQ(names_of(sorted_by_needs({saver, other, runner, last})), (Lines{"other", "runner", "saver", "last"}));
  EXPECT_EQ(log.lines.size(), 1u);
  EXPECT_EQ(names_of(sorted_by_needs({runner, saver, other})), (Lines{"runner", "saver", "other"}));
  EXPECT_EQ(log.lines.size(), 1u) << "that order was right";
}

TEST_F(CallbackGroupTest, needs_in_a_circle_are_refused) {
  const auto a = probe("a"), b = probe("b");
  a->needed = b->provided = {"x"};
  b->needed = a->provided = {"y"};
  const std::string text = error_of([&] { sorted_by_needs({a, b}); });
  EXPECT_CONTAINS(text, "'a' needs 'x' of 'b'");
  EXPECT_CONTAINS(text, "'b' needs 'y' of 'a'");
}

TEST_F(CallbackGroupTest, refuses_a_need_that_nobody_provides) {
  const auto saver = probe("saver"), runner = probe("runner");
  saver->needed = {"validation_eror"};
  runner->provided = {"validation_error", "top5"};
  const std::string text = error_of([&] { check_all_provided({saver, runner}); });
  for (const char* part : {"[callback 'saver'] needs the statistic 'validation_eror'",
                           "Did you mean 'validation_error'?", "Provided are: validation_error, top5.", "provides()"})
    EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of([&] { check_all_provided({saver}); }), "None provides any.");
  saver->needed = {"top5"};
  EXPECT_NO_THROW(check_all_provided({saver, runner}));
}

}  // namespace
}  // namespace martello
