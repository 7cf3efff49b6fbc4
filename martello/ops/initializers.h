#pragma once
#include <martello/ops/variable.h>

// Values that variables start from. The numbers of a random one depend on the graph's seed and the variable's name
// only.
namespace martello {

Initializer zeros();
Initializer ones();
Initializer constant_init(double value);
Initializer constant_init(HostTensor value);  // of the variable's shape and dtype
Initializer random_normal_init(double stddev = 1, double mean = 0);
Initializer truncated_normal(double stddev = 1, double mean = 0);  // within two stddev
Initializer uniform_init(double low, double high);

enum class FanMode { fan_in, fan_out, fan_avg };
enum class InitDistribution { uniform, normal, truncated_normal };
struct VarianceScaling {
  double scale = 1;
  FanMode mode = FanMode::fan_in;
  InitDistribution distribution = InitDistribution::normal;
};
// Random with mean 0 and variance scale / fan. The last two dimensions are inputs and outputs (dense [in, out], kernels
// HWIO); those before them, the receptive field, multiply both. A truncated normal is widened so that its variance
// fits.
Initializer variance_scaling(VarianceScaling options = {});
Initializer glorot_uniform();  // variance 2 / (fan_in + fan_out)
Initializer glorot_normal();
Initializer he_normal();  // variance 2 / fan_in
Initializer he_uniform();
Initializer lecun_normal();  // variance 1 / fan_in

struct Fans {
  double in = 1;
  double out = 1;
};
Fans fans_of(const Shape& shape);

}  // namespace martello
