#pragma once
#include <martello/tensor/host_tensor.h>

#include <cstdint>
#include <vector>

namespace martello {

// How often values lie in each of TensorBoard's buckets, which grow by a tenth from 1e-12 to 1e20 on both sides of
// zero.
struct Histogram {
  double min = 0, max = 0, sum = 0, sum_of_squares = 0;
  int64_t count = 0;
  int64_t left_out = 0;  // NaN and infinities
  // Bucket i holds limits[i - 1] <= x < limits[i]. Empty buckets side by side are one.
  std::vector<double> limits, counts;
};

Histogram histogram_of(const HostTensor& values);

}  // namespace martello
