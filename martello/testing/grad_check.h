#pragma once
#include <martello/graph/tensor.h>
#include <martello/tensor/host_tensor.h>

#include <functional>

namespace martello::testing {

struct GradCheckOptions {
  double tolerance = 1e-6;     // relative to the larger of the gradient and 1
  double step = 1e-5;          // of the central difference, relative to the larger of |x| and 1
  bool second_order = false;   // also check the gradient of the gradient
  int64_t most_elements = 48;  // per input; of larger inputs a sample, and random directions through all elements
};

// Throws InvalidArgument unless gradients() of what `build` makes agrees with central differences in f64, for every
// floating input. Outputs are reduced by fixed random weights first, so that a gradient which is right only for a sum
// does not pass. Floating inputs are cast to f64; `build` must not depend on their dtype.
//   check_gradients([](TensorList x) { return TensorList{my_op(x[0], x[1])}; }, {randn({2, 3}), randn({3})});
void check_gradients(const std::function<TensorList(TensorList)>& build, const HostTensors& inputs,
                     GradCheckOptions options = {});

}  // namespace martello::testing
