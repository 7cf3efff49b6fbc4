#include <martello/graph/core_ops.h>
#include <martello/ops/identity.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

std::vector<OpCase> rows(Tensor (*f)(Operand, Name), bool gradient) {
  std::vector<OpCase> cases;
  for (const HostTensor& x :
       {randn({}), randn({0, 3}), randn({3, 217}), integers({4}, 0, 9), booleans({5}), iota({2, 1, 2, 1, 2, 1})})
    cases.push_back({.label = str(x.dtype(), x.shape()),
                     .inputs = {x},
                     .build = [f](TensorList in) { return TensorList{f(in[0], "y")}; },
                     .reference = [](const HostTensors& in) { return in; },
                     .gradient = gradient,
                     .second_order = gradient && x.num_elements() == 8});
  return cases;
}

}  // namespace

static const OpTestRows op_test_rows_identity("identity", __FILE__, __LINE__, rows(identity, true));
static const OpTestRows op_test_rows_stop_gradient("stop_gradient", __FILE__, __LINE__, rows(stop_gradient, false));

}  // namespace martello::testing
