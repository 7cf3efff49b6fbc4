#include <martello/graph/core_ops.h>
#include <martello/ops/activation.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello::testing {
namespace {

using Function = double (*)(double);

Reference naive(const std::function<double(double)>& f) {
  return [=](const HostTensors& in) {
    return HostTensors{map_elements(
        in, [=](const std::vector<double>& v) { return f(v[0]); }, f64)};
  };
}

// Away from 0, where some of them have a corner.
HostTensor inputs(Shape shape) {
  HostTensor x = uniform(shape, -7, 7);
  for (int64_t i = 0; i < x.num_elements(); ++i)
    if (std::abs(x.at(i)) < 0.05) x.set(i, 0.3);
  return x;
}

std::vector<OpCase> rows(const std::function<Tensor(Tensor)>& f, const std::function<double(double)>& reference) {
  std::vector<OpCase> cases;
  const Build build = [f](TensorList x) { return TensorList{f(x[0])}; };
  for (const Shape& shape : {Shape(), Shape(2, 0), Shape(7, 149), Shape(2, 1, 2, 1, 2, 3)})
    cases.push_back({.label = shape.str(),
                     .inputs = {inputs(shape)},
                     .build = build,
                     .reference = naive(reference),
                     .second_order = shape.rank() == 6});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  cases.push_back({.label = "corners",
                   .inputs = {HostTensor::of<double>({-0.0, 0, 1e-30, -1e-30, 6, nan, 80, -80})},
                   .build = build,
                   .reference = naive(reference),
                   .gradient = false});
  return cases;
}

double relu_of(double x) { return x <= 0 ? 0 : x; }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_of(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh_of(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

HostTensors naive_gated(const HostTensors& in, double slope) {
  return {map_elements(
      in, [=](const std::vector<double>& v) { return v[0] > 0 ? v[1] : slope * v[1]; }, f64)};
}

}  // namespace

#define ROWS(op, ...) static const OpTestRows op_test_rows_##op(#op, __FILE__, __LINE__, rows(__VA_ARGS__))

ROWS(
    relu, [](Tensor x) { return relu(x); }, relu_of);
ROWS(
    relu6, [](Tensor x) { return relu6(x); }, [](double x) { return x <= 0   ? 0
                                                                    : x >= 6 ? 6
                                                                             : x; });
ROWS(
    leaky_relu, [](Tensor x) { return leaky_relu(x, 0.3); }, [](double x) { return x > 0 ? x : 0.3 * x; });
ROWS(
    elu, [](Tensor x) { return elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); });
ROWS(
    selu, [](Tensor x) { return selu(x); },
    [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); });
ROWS(
    sigmoid, [](Tensor x) { return sigmoid(x); }, sigmoid_of);
ROWS(
    tanh, [](Tensor x) { return tanh(x); }, [](double x) { return std::tanh(x); });
ROWS(
    softplus, [](Tensor x) { return softplus(x); },
    [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); });
ROWS(
    silu, [](Tensor x) { return silu(x); }, [](double x) { return x * sigmoid_of(x); });
ROWS(
    gelu, [](Tensor x) { return gelu(x); }, gelu_of);
ROWS(
    gelu_tanh, [](Tensor x) { return gelu_tanh(x); }, gelu_tanh_of);

OP_TEST(relu_grad, {.label = "by dy",
                    .inputs = {inputs({4, 37}), randn({4, 37})},
                    .build = [](TensorList x) { return TensorList{relu_grad(x[0], x[1])}; },
                    .reference = [](const HostTensors& in) { return naive_gated(in, 0); },
                    .gradient = false});
OP_TEST(leaky_relu_grad, {.label = "by dy",
                          .inputs = {inputs({4, 37}), randn({4, 37})},
                          .build = [](TensorList x) { return TensorList{leaky_relu_grad(x[0], x[1], 0.3)}; },
                          .reference = [](const HostTensors& in) { return naive_gated(in, 0.3); },
                          .gradient = false});

OP_REFUSES(relu, integers, [] { relu(placeholder({2}, i32, "x")); }, {"[relu 'relu'] x is i32[2]", "f32, f64"})
OP_REFUSES(relu_grad, shapes, [] { relu_grad(placeholder({2}, f32, "y"), placeholder({3}, f32, "dy")); },
           {"[relu_grad 'relu_grad'] y is f32[2] but dy is f32[3]"})

}  // namespace martello::testing
