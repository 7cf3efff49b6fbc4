#pragma once
#include <cstdint>

namespace martello {

// Where training is. An epoch is only a period for callbacks: it spans from just before `before_epoch` to just after
// `trigger_epoch`.
struct TrainLoop {
  int64_t epoch_num = 0;    // in progress; `starting_epoch - 1` in before_train
  int64_t global_step = 0;  // hooked runs ever made, also before a checkpoint was loaded
  int64_t local_step = -1;  // of the step being run or just done, counted from 0 in each epoch
  int64_t starting_epoch = 1;
  int64_t max_epoch = 0;        // inclusive
  int64_t steps_per_epoch = 0;  // zero is legal: epochs of callbacks only

  bool is_last_step() const { return local_step + 1 == steps_per_epoch; }
  bool is_last_epoch() const { return epoch_num == max_epoch; }
};

}  // namespace martello
