#pragma once
#include <martello/graph/tensor.h>

#include <cstdint>
#include <vector>

// Learning rates as functions of a step, in the graph: scalars of f32 that an optimizer takes. `step` is an integer or
// floating scalar, usually get_global_step_var(); `rate` a number or a scalar. Computed in f64.
namespace martello {

struct ExponentialDecay {
  double decay_steps = 1, decay_rate = 0.96;
  bool staircase = false;  // whole numbers of decay_steps only
};
// rate * decay_rate ^ (step / decay_steps)
Tensor exponential_decay(Operand rate, Operand step, ExponentialDecay options = {}, Name name = "exponential_decay");

// values[0] up to and including step boundaries[0], values[1] up to boundaries[1] ... One more value than boundaries,
// which ascend.
Tensor piecewise_constant(Operand step, const std::vector<int64_t>& boundaries, const std::vector<double>& values,
                          Name name = "piecewise_constant");

struct PolynomialDecay {
  double decay_steps = 1, end = 0.0001, power = 1;
  bool cycle = false;  // starts again with twice, three times ... the decay_steps instead of staying at `end`
};
// (rate - end) * (1 - min(step, decay_steps) / decay_steps) ^ power + end
Tensor polynomial_decay(Operand rate, Operand step, PolynomialDecay options = {}, Name name = "polynomial_decay");

struct CosineDecay {
  double decay_steps = 1, alpha = 0;  // alpha: the last value as a fraction of the rate
};
// rate * ((1 - alpha) * (1 + cos(pi * min(step, decay_steps) / decay_steps)) / 2 + alpha)
Tensor cosine_decay(Operand rate, Operand step, CosineDecay options = {}, Name name = "cosine_decay");

struct WarmUp {
  double steps = 1, initial = 0;
};
// A line from `initial` at step 0 to `rate` at step `steps`, then `rate`, which may be a schedule itself.
Tensor warm_up(Operand rate, Operand step, WarmUp options = {}, Name name = "warm_up");

}  // namespace martello
