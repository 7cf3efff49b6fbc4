#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/update_rule.h>

#include <vector>

namespace martello {

struct MovingAverageOptions {
  // Steps done so far, a scalar: early averages follow faster, by min(decay, (1 + n) / (10 + n)).
  Tensor num_updates = {};
};

// Averages of variables for evaluation: shadow = decay shadow + (1 - decay) v after each step. Shadows are variables
// named `v/ExponentialMovingAverage` and start where their variables start.
//   MovingAverage average(0.999, trainable_variables());
//   auto train = average.update_after(Adam(1e-3).minimize(loss));
//   auto swap = average.swap();  // run it before and after an evaluation
class MovingAverage {
 public:
  MovingAverage(double decay, std::vector<Variable> vars, MovingAverageOptions options = {});
  // Done when `step` is done and the averages have taken in what it wrote.
  Operation update_after(Operation step, Name name = Name("update_averages", SourceLine::current()));
  // Exchanges variables and averages. Do not train in between.
  Operation swap(Name name = Name("swap_averages", SourceLine::current()));
  // v = average, for good.
  Operation assign_averages(Name name = Name("assign_averages", SourceLine::current()));
  // The shadow of a variable.
  Variable average(const Variable& v) const;

 private:
  std::vector<Operation> each_group(Operand rate, UpdateRule rule, Name name) const;

  double decay_;
  MovingAverageOptions options_;
  std::vector<Variable> vars_, shadows_;
};

}  // namespace martello
