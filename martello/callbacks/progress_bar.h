#pragma once
#include <martello/base/owned.h>
#include <martello/loop/callback.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

struct ProgressBarOptions {
  // 0: by MARTELLO_PROGRESS_REFRESH, else every half second on a terminal; elsewhere every 3 minutes, in a SLURM job
  // every 15 seconds, in one of several nodes or under mpirun every minute.
  double refresh_seconds = 0;
  std::optional<bool> is_terminal = {};  // default: whether standard error is one
};

// How far the epoch is, how fast, how long it will take, and the values of scalars in the last step. A bar on a
// terminal; else lines of the log, one per interval and one when the epoch is over.
class ProgressBar : public Callback {
 public:
  explicit ProgressBar(std::vector<std::string> names = {}, ProgressBarOptions options = {},
                       SourceLine line = SourceLine::current());
  ProgressBar(ProgressBar&&) noexcept;
  ~ProgressBar() override;
  void setup_graph() override;
  void before_epoch() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void trigger_step() override;
  void after_epoch() override;
  void after_train() override;
  void state(State& s) override;  // a resumed run shows the rest of its epoch
  std::string name() const override { return "ProgressBar"; }
  std::string description() const override { return ""; }

 private:
  struct Impl;
  void show(int64_t steps, double now);
  void close();
  Owned<Impl> impl_;
};

}  // namespace martello
