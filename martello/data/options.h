#pragma once
#include <martello/data/bad_samples.h>

#include <string>

namespace martello {

struct BatchOptions {
  bool remainder = false;  // keep the last batch when it is not full
};

// `version` stands for what a function does, which nobody can see from outside: change it with the function.
struct MapOptions {
  std::string name = {};  // in errors and descriptions
  std::string version = {};
  BadSamples bad_samples = {};
};

struct ParallelOptions {
  int threads = 0;      // 0: one for each core
  bool ordered = true;  // false: whatever is ready first; resuming then loses and repeats nothing, but is not exact
  int64_t buffer_bytes = 64 << 20;
  std::string name = {};
  std::string version = {};
  BadSamples bad_samples = {};
};

struct PrefetchOptions {
  int64_t buffer_bytes = 64 << 20;
};

struct FixedSizeOptions {
  bool keep_state = true;  // a data pass goes on where the one before it stopped
};

struct PrintOptions {
  int64_t count = 1;  // datapoints that are logged
  std::string name = {};
};

}  // namespace martello
