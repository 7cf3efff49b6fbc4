#pragma once
#include <martello/base/error.h>
#include <martello/loop/commit_point.h>
#include <martello/loop/monitors.h>
#include <martello/loop/train_context.h>
#include <martello/runtime/hooked_session.h>

#include <memory>
#include <optional>
#include <vector>

namespace martello::internal {

// What the callbacks of an input see where nothing is trained.
class PredictContext : public TrainContext {
 public:
  PredictContext(Graph graph, std::vector<TensorSpec> signature)
      : graph_(std::move(graph)), signature_(std::move(signature)) {}
  void use_session(std::shared_ptr<Session> session, const std::vector<RunHook*>& hooks) {
    session_ = std::move(session);
    hooked_.emplace(*session_, hooks);
  }

  const TrainLoop& loop() const override { return loop_; }
  Graph graph() const override { return graph_; }
  bool is_chief() const override { return true; }
  Session& sess() const override { return *session_; }
  HookedSession& hooked_sess() const override { return *hooked_; }
  Monitors& monitors() const override { return monitors_; }
  CommitPoint& commit_point() const override { return commit_point_; }
  TowerHandles towers() const override { return {}; }
  Tensor get_tensor(std::string_view name, SourceLine line) const override { return graph_.get_tensor(name, line); }
  OnlinePredictor get_predictor(const std::vector<std::string>&, const std::vector<std::string>&, int) override {
    refuse();
  }
  TowerHandle build_predict_tower(std::string_view, int, TowerFunc*, const std::function<TensorList()>&) override {
    refuse();
  }
  const std::vector<TensorSpec>& input_signature() const override { return signature_; }

 private:
  [[noreturn]] static void refuse() {
    throw FailedPrecondition("[predict] the callbacks of its input build no towers: there is no trainer.");
  }

  Graph graph_;
  std::vector<TensorSpec> signature_;
  TrainLoop loop_;
  mutable Monitors monitors_;
  mutable CommitPoint commit_point_;
  std::shared_ptr<Session> session_;
  mutable std::optional<HookedSession> hooked_;
};

}  // namespace martello::internal
