#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/bias_add.h>
#include <martello/testing/op_test.h>

namespace martello {
namespace {

testing::OpCase row(std::string label, Shape x, int64_t channels, int64_t inner, BiasAddAttrs attrs) {
  return {.label = std::move(label),
          .inputs = {testing::randn(x, 1), testing::randn({channels}, 2)},
          .build = [=](TensorList t) { return TensorList{bias_add(t[0], t[1], attrs)}; },
          .reference =
              [=](const HostTensors& in) {
                HostTensor y(in[0].shape(), f64);
                for (int64_t i = 0; i < y.num_elements(); ++i) y.set(i, in[0].at(i) + in[1].at(i / inner % channels));
                return HostTensors{y};
              },
          .unknown_shapes = false};
}

TEST(bias_add, adds_one_number_per_channel) {
  testing::run_op_case("bias_add", row("nhwc", {2, 3, 4, 5}, 5, 1, {}));
  testing::run_op_case("bias_add", row("nchw", {2, 3, 4, 5}, 3, 20, {.data_format = DataFormat::nchw}));
  testing::run_op_case("bias_add", row("matrix", {2, 3}, 3, 1, {.data_format = DataFormat::nchw}));
}

Tensor x(Shape shape) { return placeholder(std::move(shape), f32, "x"); }
OP_REFUSES(bias_add, another_number_of_channels,
           [] {
             bias_add(x({2, 3, 4}), x({3}));
           },
           {"4 channels", "3 numbers", "nhwc"})
OP_REFUSES(bias_add, a_matrix_of_biases, [] { bias_add(x({2, 3}), x({1, 3})); }, {"vector", "[1, 3]"})
OP_REFUSES(bias_add, a_vector, [] { bias_add(x({3}), x({3})); }, {"[3]", "rank 2"})

}  // namespace
}  // namespace martello
