#pragma once
#include "timing.h"

#include <martello/loop/callback.h>

#include <vector>

namespace bench {

// Seconds of the steps of each epoch.
class Stopwatch : public martello::Callback {
 public:
  explicit Stopwatch(std::vector<double>& seconds) : seconds_(seconds) {}
  void before_epoch() override { start_ = now_seconds(); }
  void after_epoch() override { seconds_.push_back(now_seconds() - start_); }

 private:
  std::vector<double>& seconds_;
  double start_ = 0;
};

}  // namespace bench
