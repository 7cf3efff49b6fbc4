#include <martello/autodiff/gradients.h>
#include <martello/base/internal/test_text.h>
#include <martello/ops/assign.h>
#include <martello/optim/global_step.h>
#include <martello/testing/recording_callback.h>
#include <martello/train/internal/test_actor.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/trainer.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::Actor;
using testing::Counting;
using testing::Events;
using testing::Log;
using testing::RecordingCallback;

bool has_line(const Log& log, const std::string& part) {
  for (const std::string& line : log.lines)
    if (line.find(part) != std::string::npos) return true;
  return false;
}

TEST(Trainer, runs_a_train_op_of_a_graph_built_before_it) {
  const GraphScope scope;
  const auto x = get_variable("x", {.initializer = constant_init(8)});
  Trainer trainer;
  trainer.train_op = GradientDescent(0.25).minimize(reduce_sum(square(x)), {x});
  const TrainEnd end = trainer.train({.steps_per_epoch = 2, .max_epoch = 2});
  EXPECT_EQ(end.reason, TrainEnd::finished);
  EXPECT_EQ(static_cast<int>(end), 0);
  EXPECT_EQ(trainer.sess().eval(x).scalar<float>(), 0.5f);
  EXPECT_EQ(trainer.loop().global_step, 4);
  EXPECT_EQ(trainer.sess().eval("global_step").scalar<int64_t>(), 4);
}

// The graph is built in the constructor; a step makes hooked and plain runs.
class Alternating : public Trainer {
 public:
  Alternating() {
    const GraphScope scope(graph());
    const auto w = get_variable("w", {.shape = {10}, .initializer = zeros()});
    loss_ = reduce_mean(square(w - 1), {}, "loss");
    update_ = assign(w, w - gradients(loss_, w)[0] * 4);
    reset_ = assign(w, w * 0);
  }
  int num_resets = 0;

 protected:
  void run_step() override {
    hooked_sess().run(update_);
    if (loop().global_step % 5 == 0) sess().run(reset_), ++num_resets;
    const auto values = hooked_sess().run({update_, loss_});
    if (values[1].scalar<float>() < 1e-6f) throw StopTraining("converged");
  }

 private:
  Operation update_, reset_;
  Tensor loss_;
};

TEST(Trainer, a_step_may_do_anything) {
  Log log;
  Alternating trainer;
  const TrainEnd end = trainer.train({.steps_per_epoch = 100, .max_epoch = 2});
  EXPECT_EQ(end.reason, TrainEnd::stopped);
  EXPECT_EQ(end.message, "converged");
  EXPECT_GT(trainer.num_resets, 0);
  EXPECT_TRUE(has_line(log, "made 2 hooked runs")) << "said once";
}

TEST(Trainer, steps_without_a_graph_count_hooked_runs) {
  Counting trainer;
  EXPECT_EQ(trainer.train({.steps_per_epoch = 3, .max_epoch = 2}).reason, TrainEnd::finished);
  EXPECT_EQ(trainer.steps, 6);
  EXPECT_EQ(trainer.loop().global_step, 6);
}

struct SetStep : SessionInit {
  void run_init(Session& session) override { session.set("global_step", HostTensor(int64_t{40})); }
};

TEST(Trainer, global_step_goes_on_where_the_session_starts) {
  Log log;
  Counting trainer;
  EXPECT_EQ(trainer.train({.session_init = SetStep(), .steps_per_epoch = 2, .max_epoch = 1}).reason,
            TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 42);
  EXPECT_TRUE(has_line(log, "starts at global_step 40"));
}

TEST(Trainer, before_train_may_set_global_step) {
  Counting trainer;
  Actor actor;
  actor.in_before_train = [](Actor& a) { a.see().sess().set("global_step", HostTensor(int64_t{10})); };
  EXPECT_EQ(trainer.train({.callbacks = {std::move(actor)}, .steps_per_epoch = 1, .max_epoch = 1}).reason,
            TrainEnd::finished);
  EXPECT_EQ(trainer.loop().global_step, 11);
}

struct RecordingMonitor : Monitor {
  explicit RecordingMonitor(std::shared_ptr<Events> e) : events(std::move(e)) {}
  std::string name() const override { return "monitor"; }
  void after_run(RunContext&) override { events->push_back("monitor"); }
  std::shared_ptr<Events> events;
};

TEST(Trainer, callbacks_come_in_their_final_order) {
  Counting trainer;
  const auto events = make<Events>();
  const auto note = [&](const char* name, int64_t step) {
    Actor actor;
    actor.in_after_run = [=](Actor& a) {
      events->push_back(name);
      EXPECT_EQ(a.see().loop().global_step, step) << name;
    };
    return actor;
  };
  trainer.register_callback(note("registered", 0));
  EXPECT_EQ(trainer
                .train({.callbacks = {note("user", 1)},
                        .extra_callbacks = CallbackList{note("extra", 1)},
                        .monitors = std::vector<Ref<Monitor>>{RecordingMonitor(events)},
                        .steps_per_epoch = 1,
                        .max_epoch = 1})
                .reason,
            TrainEnd::finished);
  EXPECT_EQ(*events, (Events{"registered", "user", "extra", "monitor"}));
}

struct Declaring : RecordingCallback {
  using RecordingCallback::RecordingCallback;
  std::vector<std::string> needs() const override { return needed; }
  std::vector<std::string> provides() const override { return provided; }
  std::vector<std::string> needed, provided;
};

TEST(Trainer, a_callback_comes_after_what_it_needs) {
  const auto events = make<Events>();
  Declaring saver("saver", events), runner("runner", events);
  saver.needed = runner.provided = {"error"};
  Counting trainer;
  EXPECT_EQ(
      trainer.train({.callbacks = {std::move(saver), std::move(runner)}, .steps_per_epoch = 0, .max_epoch = 0}).reason,
      TrainEnd::finished);
  EXPECT_EQ((*events)[0], "runner.setup_graph");
}

TEST(Trainer, callbacks_see_tensors_sessions_and_monitors) {
  const GraphScope scope;
  const auto x = get_variable("x", {.initializer = constant_init(3)});
  square(x, "y");
  Actor actor;
  Tensor y;
  float value = 0;
  actor.in_setup = [&](Actor& a) { y = a.see().get_tensor("y"); };
  actor.in_before_run = [&](Actor& a) { a.run->fetch(y); };
  actor.in_after_run = [&](Actor& a) { value = a.run->value().scalar<float>(); };
  actor.in_trigger = [&](Actor& a) {
    EXPECT_EQ(a.see().sess().eval(y).scalar<float>(), 9);
    EXPECT_EQ(a.see().towers().size(), 0u);
    EXPECT_TRUE(a.see().is_chief());
    a.see().monitors().put_scalar("y", 4);
    EXPECT_EQ(a.see().monitors().get_latest("y"), 4);
  };
  Counting trainer;
  EXPECT_EQ(trainer.train({.callbacks = {std::move(actor)}, .steps_per_epoch = 1, .max_epoch = 1}).reason,
            TrainEnd::finished);
  EXPECT_EQ(value, 9);
}

struct Worker : Counting {
  bool is_chief() const override { return false; }
};

TEST(Trainer, chief_only_callbacks_are_left_out_elsewhere) {
  Log log;
  const auto events = make<Events>();
  RecordingCallback everywhere("everywhere", events);
  everywhere.set_chief_only(false);
  Worker trainer;
  EXPECT_FALSE(trainer.register_callback(RecordingCallback("early", events)));
  EXPECT_EQ(trainer
                .train({.callbacks = {RecordingCallback("chief", events), std::move(everywhere)},
                        .session_init = SetStep(),
                        .steps_per_epoch = 0,
                        .max_epoch = 0})
                .reason,
            TrainEnd::finished);
  EXPECT_EQ(*events, (Events{"everywhere.setup_graph", "everywhere.before_train e0 s-1 g0",
                             "everywhere.after_train e0 s-1 g0"}));
  EXPECT_TRUE(has_line(log, "'chief' is chief-only"));
  EXPECT_TRUE(has_line(log, ".session_init is ignored"));
}

}  // namespace
}  // namespace martello
