#include <martello/graph/core_ops.h>
#include <martello/ops/finite_norm.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

using namespace testing;

OpCase row(std::string label, HostTensors xs) {
  return {.label = std::move(label),
          .inputs = std::move(xs),
          .build = [](TensorList in) { return TensorList{finite_norm(in)}; },
          .reference =
              [](const HostTensors& in) {
                double sum = 0;
                for (const HostTensor& x : in)
                  for (int64_t i = 0; i < x.num_elements(); ++i) sum += x.at(i) * x.at(i);
                HostTensor norm(Shape(), in[0].dtype());
                norm.set(0, std::sqrt(sum));
                return HostTensors{norm};
              },
          .gradient = false};
}

OP_TEST(finite_norm, row("one", {randn({7})}), row("a scalar", {randn({})}), row("nothing", {randn({0, 3})}),
        row("several", {randn({3, 5}), randn({100000}), randn({0}), randn({1, 2, 1, 2, 1, 3})}),
        row("larger than f32 can square", {uniform({400}, 1e25, 2e25)}));

OP_REFUSES(finite_norm, an_empty_list, [] { finite_norm({}); }, {"finite_norm", "no tensor"})
OP_REFUSES(finite_norm, two_dtypes,
           [] {
             finite_norm({placeholder({2}, f32, "x"), placeholder({2}, f64, "y")});
           },
           {"f32", "f64", "one dtype"})

}  // namespace
}  // namespace martello
