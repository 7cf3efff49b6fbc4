#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/callbacks/summaries.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/summary.h>
#include <martello/ops/variable.h>
#include <martello/tower/summary.h>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using History = std::vector<std::pair<int64_t, double>>;

struct SummariesTest : ::testing::Test {
  GraphScope g;
  Log log;
  Tensor x = placeholder({}, f32, "x");
  float fed = 0;

  // Steps in which x is 1, 2, 3 ...
  void epochs(FakeTraining& t, int count, int64_t steps) {
    for (int e = 0; e < count; ++e) {
      fed += 1;
      t.epoch(steps, [] {}, {{x, fed}});
    }
  }
};

TEST_F(SummariesTest, come_with_the_last_step_of_an_epoch) {
  add_tensor_summary(x, {"scalar"});
  FakeTraining t({}, {MergeAllSummaries()});
  t.start();
  epochs(t, 2, 3);
  EXPECT_EQ(t.monitors().get_history("x"), (History{{3, 1}, {6, 2}}));
}

TEST_F(SummariesTest, and_in_every_period) {
  add_tensor_summary(x, {"scalar"});
  FakeTraining t({}, {MergeAllSummaries({.period = 2})});
  t.start();
  epochs(t, 2, 5);
  EXPECT_EQ(t.monitors().get_history("x"), (History{{2, 1}, {4, 1}, {5, 1}, {7, 2}, {9, 2}, {10, 2}}));
}

TEST_F(SummariesTest, are_fetched_along_and_see_the_values_before_the_step) {
  const Variable v = get_variable("v", {.shape = {}, .initializer = zeros(), .trainable = false});
  add_tensor_summary(v, {"scalar"});
  struct Step : Callback {
    explicit Step(Operation o) : op(o) {}
    void before_run(RunContext& run) override { run.fetch(op); }
    Operation op;
  };
  FakeTraining t({}, {Step(assign_add(v, 1)), MergeAllSummaries()});
  t.start();
  t.epoch(4);
  EXPECT_EQ(t.monitors().get_latest("v"), 3);
}

TEST_F(SummariesTest, alone_they_have_a_run_of_their_own) {
  const Variable v = get_variable("v", {.shape = {}, .initializer = zeros(), .trainable = false});
  const ControlDependencies after({assign_add(v, 1)});
  add_tensor_summary(read_variable(v), {"scalar"}, {.name = "runs"});
  FakeTraining t({}, {MergeAllSummaries({.period = 2, .run_alone = true})});
  t.start();
  t.epoch(4);
  EXPECT_EQ(t.monitors().get_history("runs"), (History{{2, 1}, {4, 2}}));
}

TEST_F(SummariesTest, of_all_kinds_reach_their_monitors) {
  struct Kinds : Monitor {
    explicit Kinds(std::shared_ptr<std::vector<std::string>> l) : lines(std::move(l)) {}
    void process_histogram(std::string_view name, const HostTensor& v) override {
      lines->push_back(str(name, v.shape()));
    }
    void process_image(std::string_view name, const HostTensor& v) override { lines->push_back(str(name, v.shape())); }
    std::shared_ptr<std::vector<std::string>> lines;
  };
  auto& list = g.graph().collections();
  list.add(kSummaries, create_histogram_summary("h", constant(HostTensor(Shape(3), f32))));
  list.add(kSummaries, create_image_summary("i", constant(HostTensor(Shape(1, 2, 2, 3), f32))));
  const auto lines = std::make_shared<std::vector<std::string>>();
  FakeTraining t({Kinds(lines)}, {MergeAllSummaries()});
  t.start();
  t.epoch(1);
  EXPECT_EQ(*lines, (std::vector<std::string>{"h[3]", "i[1, 2, 2, 3]"}));
}

TEST_F(SummariesTest, none_is_no_error) {
  FakeTraining t({}, {MovingAverageSummary(), MergeAllSummaries(), MergeAllSummaries({.run_alone = true})});
  t.start();
  t.epoch(2);
  EXPECT_TRUE(t.monitors().scalar_names().empty());
}

TEST_F(SummariesTest, two_of_one_name_are_said_and_a_negative_period_is_refused) {
  for (int i = 0; i < 2; ++i) g.graph().collections().add(kSummaries, create_scalar_summary("s", x));
  FakeTraining t({}, {MergeAllSummaries()});
  EXPECT_CONTAINS(log.lines.at(0), "two summaries are called 's'");
  EXPECT_CONTAINS(error_of([] { MergeAllSummaries({.period = -1}); }), "period is -1");
}

TEST_F(SummariesTest, moving_averages_are_kept_in_every_step_and_shown_once) {
  add_moving_summary(x, {.decay = 0.5});
  FakeTraining t({}, {MovingAverageSummary(), MergeAllSummaries()});
  t.start();
  epochs(t, 2, 2);
  // 1, 1, 2, 2 with weights 1/16, 1/8, 1/4, 1/2 over their sum
  const History history = t.monitors().get_history("x");
  ASSERT_EQ(history.size(), 2u);
  EXPECT_EQ(history[0], (std::pair<int64_t, double>{2, 1}));
  EXPECT_NEAR(history[1].second, (1.0 / 16 + 1.0 / 8 + 2.0 / 4 + 2.0 / 2) / (15.0 / 16), 1e-6);
}

TEST_F(SummariesTest, averages_can_run_with_an_operation) {
  const auto updates = add_moving_summary(x, {.decay = 0.5});
  identity(x, "train_op");
  FakeTraining t({}, {MovingAverageSummary({.train_op = "train_op"})});
  t.start();
  t.sess().run("train_op", {{x, 4.F}});
  const Tensor entry = g.graph().collections().get(kSummaries).at(0);
  EXPECT_NEAR(t.sess().eval(entry, {{x, 1.F}}).at(0), (4 * 0.25 + 0.5) / 0.75, 1e-6);
  EXPECT_CONTAINS(log.lines.at(0), "1 averages of 'moving_summary_ops' are updated with 'train_op'");
}

TEST_F(SummariesTest, a_simple_moving_average_of_the_last_window) {
  FakeTraining t({}, {SimpleMovingAverage({"x"}, 3)});
  t.start();
  for (int i = 1; i <= 7; ++i) t.epoch(1, [] {}, {{x, static_cast<float>(i)}});
  EXPECT_EQ(t.monitors().get_history("x/SMA"), (History{{3, 2}, {6, 5}}));
}

TEST_F(SummariesTest, a_simple_moving_average_goes_on_after_a_resume) {
  const auto first = make<SimpleMovingAverage>(std::vector<std::string>{"x"}, 2);
  FakeTraining t({}, {first});
  t.start();
  for (int i = 1; i <= 3; ++i) t.epoch(1, [] {}, {{x, static_cast<float>(i)}});
  const std::string saved = save_state(*first);
  const auto second = make<SimpleMovingAverage>(std::vector<std::string>{"x"}, 2);
  FakeTraining again({}, {second}, {.global_step = 3});
  again.start();
  restore_state(*second, saved);
  again.epoch(1, [] {}, {{x, 4.F}});
  EXPECT_EQ(again.monitors().get_history("x/SMA"), (History{{4, 3.5}}));
}

TEST_F(SummariesTest, a_simple_moving_average_refuses_what_has_no_mean) {
  placeholder({2}, f32, "vector");
  const auto train = [](Ref<Callback> c) { FakeTraining t({}, {std::move(c)}); };
  EXPECT_CONTAINS(error_of([&] { train(SimpleMovingAverage({"vector"}, 3)); }), "'vector' is [2], not a scalar");
  EXPECT_CONTAINS(error_of([&] { train(SimpleMovingAverage({"vektor"}, 3)); }), "Did you mean 'vector'?");
  EXPECT_CONTAINS(error_of([] { SimpleMovingAverage({"x"}, 0); }), "the window is 0 runs");
}

}  // namespace
}  // namespace martello
