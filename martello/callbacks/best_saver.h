#pragma once
#include <martello/loop/callback.h>

#include <cstdint>
#include <string>
#include <vector>

namespace martello {

struct BestSaverOptions {
  std::string filename = {};  // of the best checkpoint, without .safetensors; default: min-<stat> or max-<stat>
  int64_t keep = 1;           // so many of the best stay, whatever ModelSaver keeps
  std::string dir = {};       // default: the logger's
};

// Saves a checkpoint whenever a statistic is better than ever before, and lets `dir`/min-<stat>.safetensors be the best
// one. What other savers of the same directory save in that moment is the same file. The statistic is repeatable; NaN
// is never the best, and neither is what could not be saved. What was best is known to a resumed run.
//   MinSaver("validation_error")
class MinSaver : public Callback {
 public:
  explicit MinSaver(std::string stat, BestSaverOptions options = {}, SourceLine line = SourceLine::current());
  void setup_graph() override;
  void trigger() override;
  void state(State& s) override;
  std::vector<std::string> needs() const override { return {stat_}; }
  std::string name() const override { return is_max_ ? "MaxSaver" : "MinSaver"; }
  std::string description() const override { return ""; }

 protected:
  MinSaver(std::string stat, BestSaverOptions options, bool is_max, SourceLine line);

 private:
  bool is_better(double value) const;
  void note(double value);
  void forget(double value);

  std::string stat_;
  BestSaverOptions options_;
  bool is_max_;
  std::vector<double> best_;    // `keep` of them at most, the best first
  std::vector<double> before_;  // the same without the last one, which may be on its way to the disk
  int64_t last_step_ = -1;      // of the last value that was looked at
};

class MaxSaver : public MinSaver {
 public:
  explicit MaxSaver(std::string stat, BestSaverOptions options = {}, SourceLine line = SourceLine::current())
      : MinSaver(std::move(stat), std::move(options), true, line) {}
};

}  // namespace martello
