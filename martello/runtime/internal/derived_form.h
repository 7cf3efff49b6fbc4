#pragma once
#include <martello/tensor/buffer.h>

#include <cstdint>
#include <mutex>

namespace martello {

// Note [Derived forms]: what a plan that writes nothing computes from one variable alone, and is worth keeping, lies in
// the plan's own memory and is computed again only when the variable's version has changed. A run reads it while it
// holds the store shared, so no version changes under a reader; `mutex` keeps two lanes from filling it at once.
struct DerivedForm {
  std::mutex mutex;
  Buffer buffer;
  uint64_t version = 0;  // of the variable it was made of; 0 before the first
};

}  // namespace martello
