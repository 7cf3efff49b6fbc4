#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/initializers.h>
#include <martello/ops/like.h>
#include <martello/ops/random.h>

#include <algorithm>
#include <cmath>

namespace martello {

Initializer zeros() {
  return [](Shape shape, DType dtype) { return zeros(shape, dtype); };
}
Initializer ones() {
  return [](Shape shape, DType dtype) { return ones(shape, dtype); };
}
Initializer constant_init(double value) {
  return [value](Shape shape, DType dtype) { return fill({.shape = shape, .dtype = dtype, .value = value}); };
}
Initializer constant_init(HostTensor value) {
  return [value](Shape shape, DType dtype) {
    MARTELLO_CHECK(value.shape() == shape && value.dtype() == dtype, "[constant_init] the value is ", value.dtype(),
                   value.shape(), " but the variable ", dtype, shape, ". They must be equal.");
    return constant(value);
  };
}
Initializer random_normal_init(double stddev, double mean) {
  return
      [=](Shape shape, DType dtype) { return random_normal(shape, {.dtype = dtype, .mean = mean, .stddev = stddev}); };
}
Initializer truncated_normal(double stddev, double mean) {
  return [=](Shape shape, DType dtype) {
    return random_truncated_normal(shape, {.dtype = dtype, .mean = mean, .stddev = stddev});
  };
}
Initializer uniform_init(double low, double high) {
  return [=](Shape shape, DType dtype) { return random_uniform(shape, {.dtype = dtype, .low = low, .high = high}); };
}

Fans fans_of(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {};
  const double last = static_cast<double>(shape[rank - 1]);
  if (rank == 1) return {last, last};
  const double field = static_cast<double>(shape.num_elements(0, rank - 2));
  return {field * static_cast<double>(shape[rank - 2]), field * last};
}

namespace {

double variance(const VarianceScaling& options, const Shape& shape) {
  const Fans fans = fans_of(shape);
  const double fan = options.mode == FanMode::fan_in    ? fans.in
                     : options.mode == FanMode::fan_out ? fans.out
                                                        : (fans.in + fans.out) / 2;
  return options.scale / std::max(fan, 1.0);
}

// Standard deviation of a unit normal number cut at two.
constexpr double kTruncatedStddev = 0.87962566103423978;

}  // namespace

Initializer variance_scaling(VarianceScaling options) {
  MARTELLO_CHECK(options.scale > 0 && std::isfinite(options.scale), "[variance_scaling] scale ", options.scale,
                 " must be positive and finite.");
  return [options](Shape shape, DType dtype) {
    const double stddev = std::sqrt(variance(options, shape)), limit = stddev * std::sqrt(3.0);
    switch (options.distribution) {
      case InitDistribution::uniform: return random_uniform(shape, {.dtype = dtype, .low = -limit, .high = limit});
      case InitDistribution::normal: return random_normal(shape, {.dtype = dtype, .stddev = stddev});
      case InitDistribution::truncated_normal: break;
    }
    return random_truncated_normal(shape, {.dtype = dtype, .stddev = stddev / kTruncatedStddev});
  };
}
Initializer glorot_uniform() { return variance_scaling({1, FanMode::fan_avg, InitDistribution::uniform}); }
Initializer glorot_normal() { return variance_scaling({1, FanMode::fan_avg, InitDistribution::normal}); }
Initializer he_normal() { return variance_scaling({2, FanMode::fan_in, InitDistribution::normal}); }
Initializer he_uniform() { return variance_scaling({2, FanMode::fan_in, InitDistribution::uniform}); }
Initializer lecun_normal() { return variance_scaling({1, FanMode::fan_in, InitDistribution::normal}); }

}  // namespace martello
