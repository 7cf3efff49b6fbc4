#pragma once
#include <martello/loop/callback.h>

namespace martello {

// Advances the variable global_step with every hooked run, and the loop's copy of it after the run.
class MaintainStepCounter : public Callback {
 public:
  explicit MaintainStepCounter(TrainLoop& loop) : loop_(loop) { set_chief_only(false); }
  std::string name() const override { return "MaintainStepCounter"; }
  void setup_graph() override;
  void before_train() override;
  void before_run(RunContext& run) override { run.fetch(advance_, SourceLine()); }
  void after_run(RunContext& run) override {
    ++num_runs_;
    // A run that was skipped wrote nothing, so the variable stays as well.
    if (!run.was_skipped()) ++loop_.global_step;
  }

  // Reads the variable; whoever sets it later is not noticed.
  void read(Session& session);
  int64_t num_runs() const { return num_runs_; }

 private:
  TrainLoop& loop_;
  Operation advance_;
  Tensor variable_;
  int64_t num_runs_ = 0;
};

}  // namespace martello
