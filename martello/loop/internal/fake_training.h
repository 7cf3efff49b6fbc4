#pragma once
#include <martello/loop/callback_group.h>
#include <martello/loop/monitors.h>

#include <memory>
#include <utility>
#include <vector>

namespace martello::testing {

// The least that callbacks and monitors need to live: a loop over hooked runs of nothing, on the current graph.
class FakeTraining : public TrainContext {
 public:
  explicit FakeTraining(std::vector<Ref<Monitor>> monitors, const CallbackList& callbacks = {}, TrainLoop loop = {})
      : loop_(loop), graph_(Graph::current_or_new()) {
    CallbackList all = {StepCounter(loop_)};
    for (const auto& c : callbacks) all.push_back(c);
    for (const auto& m : monitors) all.push_back(m);
    const auto last = make<Monitors>(std::move(monitors));
    monitors_ = last.get();
    all.push_back(last);
    loop_.epoch_num = loop_.starting_epoch - 1;
    group_ = std::make_unique<CallbackGroup>(std::move(all), *this);
    group_->setup_graph();
  }
  // Between setup_graph and before_train.
  void start() {
    session_ = std::make_unique<Session>(graph_);
    hooked_ = std::make_unique<HookedSession>(*session_, group_->hooks());
    group_->run(Phase::before_train);
  }
  // `body` is what a user's run_step() would do besides the run.
  template <class F>
  void epoch(int64_t steps, F&& body, const Feeds& feeds = {}) {
    ++loop_.epoch_num;
    loop_.steps_per_epoch = steps;
    group_->run(Phase::before_epoch);
    for (loop_.local_step = 0; loop_.local_step < steps; ++loop_.local_step) {
      hooked_->run({}, feeds);
      body();
      group_->trigger_step();
    }
    --loop_.local_step;
    group_->run(Phase::after_epoch);
    group_->run(Phase::trigger_epoch);
  }
  void epoch(int64_t steps = 1) {
    epoch(steps, [] {});
  }
  void finish() {
    if (const auto error = group_->after_train()) std::rethrow_exception(error);
  }

  const TrainLoop& loop() const override { return loop_; }
  Graph graph() const override { return graph_; }
  bool is_chief() const override { return true; }
  Session& sess() const override { return *session_; }
  HookedSession& hooked_sess() const override { return *hooked_; }
  Monitors& monitors() const override { return *monitors_; }
  CommitPoint& commit_point() const override { throw InternalError("a fake has none"); }
  TowerHandles towers() const override { return {}; }
  Tensor get_tensor(std::string_view name, SourceLine line) const override { return graph_.get_tensor(name, line); }
  OnlinePredictor get_predictor(const std::vector<std::string>&, const std::vector<std::string>&, int) override {
    return {};
  }
  TowerHandle build_predict_tower(std::string_view, int, TowerFunc*, const std::function<TensorList()>&) override {
    throw InternalError("a fake has none");
  }
  const std::vector<TensorSpec>& input_signature() const override { throw InternalError("a fake has none"); }

 private:
  struct StepCounter : Callback {
    explicit StepCounter(TrainLoop& l) : loop(&l) {}
    void after_run(RunContext&) override { ++loop->global_step; }
    TrainLoop* loop;
  };
  TrainLoop loop_;
  Graph graph_;
  Monitors* monitors_ = nullptr;
  std::unique_ptr<CallbackGroup> group_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<HookedSession> hooked_;
};

}  // namespace martello::testing
