#pragma once
#include <martello/base/philox.h>

namespace martello {

// Random numbers that are a function of (seed, stream, how many were drawn): two with the same arguments give the same.
class Rng {
 public:
  explicit Rng(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint64_t bits();
  double uniform();          // [0, 1)
  int64_t below(int64_t n);  // 0 ... n - 1, each as likely as any other; n must be positive
  double normal();           // mean 0, deviation 1

 private:
  uint64_t seed_, stream_;
  uint64_t drawn_ = 0;
  Philox::Counter block_ = {};
};

}  // namespace martello
