#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/losses.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::testing {
namespace {

using Element = std::function<double(const std::vector<double>&)>;

HostTensors mapped(const HostTensors& in, const Element& f) { return {map_elements(in, f, in[0].dtype())}; }

double naive_sigmoid_loss(double x, double z, double weight = 1) {
  const double softplus = std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  return (1 - z) * softplus + weight * z * (softplus - x);
}
double naive_huber(double d, double delta) {
  return std::abs(d) <= delta ? d * d / 2 : delta * (std::abs(d) - delta / 2);
}

// -sum(q log(softmax(x))) of each row.
HostTensors naive_softmax_loss(const HostTensors& in, double smoothing) {
  const HostTensor &x = in[0], &labels = in[1];
  const int64_t classes = x.shape()[-1], rows = x.shape().num_elements(0, x.shape().rank() - 1);
  HostTensor y(x.shape().slice(0, x.shape().rank() - 1), f64);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, loss = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(x.at(r * classes + c));
    for (int64_t c = 0; c < classes; ++c) {
      const double q = labels.at(r * classes + c) * (1 - smoothing) + smoothing / static_cast<double>(classes);
      loss += q * (std::log(sum) - x.at(r * classes + c));
    }
    y.set(r, loss);
  }
  return {y};
}

OpCase sigmoid_row(std::string label, HostTensor x, HostTensor z) {
  return {.label = std::move(label),
          .inputs = {std::move(x), std::move(z)},
          .build = [](TensorList in) { return TensorList{sigmoid_cross_entropy(in[0], in[1])}; },
          .reference =
              [](const HostTensors& in) {
                return mapped(in, [](const std::vector<double>& v) { return naive_sigmoid_loss(v[0], v[1]); });
              },
          .second_order = true};
}

OP_TEST(sigmoid_cross_entropy, sigmoid_row("matrix", randn({5, 7}), uniform({5, 7}, 0, 1)),
        sigmoid_row("scalar", randn({}), uniform({}, 0, 1)), sigmoid_row("vector", randn({37}), uniform({37}, 0, 1)),
        sigmoid_row("nothing", randn({0, 3}), randn({0, 3})),
        sigmoid_row("rank 6", randn({2, 1, 3, 2, 2, 3}), uniform({2, 1, 3, 2, 2, 3}, 0, 1)),
        sigmoid_row("at zero", HostTensor::full({3}, f64, 0), uniform({3}, 0, 1)),
        sigmoid_row("large", HostTensor::of<double>({-80, 80, -30, 30}), HostTensor::of<double>({0, 1, 1, 0})),
        {.label = "one label",
         .inputs = {randn({4, 3})},
         .build = [](TensorList in) { return TensorList{sigmoid_cross_entropy(in[0], 1)}; },
         .reference =
             [](const HostTensors& in) {
               return mapped(in, [](const std::vector<double>& v) { return naive_sigmoid_loss(v[0], 1); });
             }});

TEST(sigmoid_cross_entropy, is_exact_where_the_label_is_almost_certain) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), z = placeholder({2}, f32, "z");
  const HostTensor y = Session(scope.graph())
                           .eval(sigmoid_cross_entropy(x, z),
                                 {{x, HostTensor::of<float>({60, -60})}, {z, HostTensor::of<float>({1, 0})}});
  EXPECT_NEAR(y.at(0) / std::exp(-60.0), 1, 1e-5);
  EXPECT_NEAR(y.at(1) / std::exp(-60.0), 1, 1e-5);
}

TEST(weighted_sigmoid_cross_entropy, weighs_the_positive_part) {
  for (const double weight : {0.25, 1.0, 6.0})
    run_op_case("weighted_sigmoid_cross_entropy",
                {.label = "number",
                 .inputs = {randn({5, 7}), uniform({5, 7}, 0, 1)},
                 .build = [=](TensorList x) { return TensorList{weighted_sigmoid_cross_entropy(x[0], x[1], weight)}; },
                 .reference =
                     [=](const HostTensors& in) {
                       return mapped(in, [=](const auto& v) { return naive_sigmoid_loss(v[0], v[1], weight); });
                     },
                 .second_order = true});
  run_op_case("weighted_sigmoid_cross_entropy",
              {.label = "tensor",
               .inputs = {randn({5, 7}), uniform({5, 7}, 0, 1), uniform({7}, 0.5, 4)},
               .build = [](TensorList x) { return TensorList{weighted_sigmoid_cross_entropy(x[0], x[1], x[2])}; },
               .reference =
                   [](const HostTensors& in) {
                     return mapped(in, [](const auto& v) { return naive_sigmoid_loss(v[0], v[1], v[2]); });
                   }});
}

TEST(softmax_cross_entropy, is_that_of_smoothed_labels) {
  for (const Shape& shape : {Shape(4, 7), Shape(Shape(3)), Shape(2, 3, 5), Shape(0, 4), Shape(6, 1), Shape(33, 40)})
    for (const double s : {0.0, 0.1, 1.0})
      run_op_case("softmax_cross_entropy",
                  {.label = shape.str(),
                   .inputs = {randn(shape), uniform(shape, 0, 1, 2)},
                   .build = [=](TensorList x) { return TensorList{softmax_cross_entropy(x[0], x[1], {s})}; },
                   .reference = [=](const HostTensors& in) { return naive_softmax_loss(in, s); },
                   .second_order = shape.num_elements() < 40});
}

double total(const HostTensor& losses, LossReduction reduction) {
  double sum = 0;
  for (int64_t i = 0; i < losses.num_elements(); ++i) sum += losses.at(i);
  return reduction == LossReduction::mean ? sum / static_cast<double>(losses.num_elements()) : sum;
}

void check_reduced(const char* op, const std::function<Tensor(TensorList, LossReduction)>& build, const Element& f) {
  for (const auto reduction : {LossReduction::mean, LossReduction::sum, LossReduction::none})
    for (const Shape& shape : {Shape(4, 7), Shape(Shape(37)), Shape()})
      run_op_case(op, {.label = shape.str(),
                       .inputs = {randn(shape), randn(shape, 2)},
                       .build = [=](TensorList x) { return TensorList{build(x, reduction)}; },
                       .reference =
                           [=](const HostTensors& in) {
                             const HostTensors losses = mapped(in, f);
                             if (reduction == LossReduction::none) return losses;
                             return HostTensors{HostTensor(total(losses[0], reduction))};
                           }});
}

TEST(huber_loss, is_a_square_near_and_a_line_far) {
  for (const double delta : {0.3, 1.0})
    check_reduced(
        "huber_loss",
        [=](TensorList x, LossReduction r) {
          return huber_loss(x[0], x[1], {delta, r});
        },
        [=](const std::vector<double>& v) { return naive_huber(v[0] - v[1], delta); });
}

TEST(l1_loss, is_the_distance) {
  check_reduced(
      "l1_loss", [](TensorList x, LossReduction r) { return l1_loss(x[0], x[1], {r}); },
      [](const std::vector<double>& v) { return std::abs(v[0] - v[1]); });
}

TEST(mean_squared_error, is_the_mean_of_squares) {
  const auto square = [](const std::vector<double>& v) { return (v[0] - v[1]) * (v[0] - v[1]); };
  run_op_case("mean_squared_error", {.label = "matrix",
                                     .inputs = {randn({4, 7}), randn({4, 7}, 2)},
                                     .build = [](TensorList x) { return TensorList{mean_squared_error(x[0], x[1])}; },
                                     .reference =
                                         [=](const HostTensors& in) {
                                           const double mean = total(mapped(in, square)[0], LossReduction::mean);
                                           return HostTensors{HostTensor(mean)};
                                         },
                                     .second_order = true});
}

Tensor input(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }

}  // namespace

OP_REFUSES(mean_squared_error, a_column_against_a_vector,
           [] {
             mean_squared_error(input({4, 1}), input({4}));
           },
           {"mean_squared_error", "f32[4, 1]", "f32[4]", "reshape()"})
OP_REFUSES(mean_squared_error, a_row_against_rows,
           [] {
             mean_squared_error(input({4, 3}), input({1, 3}));
           },
           {"[4, 3]", "[1, 3]"})
OP_REFUSES(l1_loss, other_shapes, [] { l1_loss(input({4}), input({5})); }, {"l1_loss", "f32[4]", "f32[5]"})
OP_REFUSES(huber_loss, other_shapes, [] { huber_loss(input({4}), input({5})); }, {"huber_loss", "f32[4]", "f32[5]"})
OP_REFUSES(huber_loss, no_delta, [] { huber_loss(input({4}), input({4}), {.delta = 0}); }, {"huber_loss", "delta 0"})
OP_REFUSES(sigmoid_cross_entropy, other_shapes,
           [] {
             sigmoid_cross_entropy(input({4, 1}), input({4}));
           },
           {"sigmoid_cross_entropy", "f32[4, 1]", "label"})
OP_REFUSES(sigmoid_cross_entropy, integer_labels, [] { sigmoid_cross_entropy(input({4}), input({4}, i32)); },
           {"sigmoid_cross_entropy", "i32"})
OP_REFUSES(weighted_sigmoid_cross_entropy, numbers, [] { weighted_sigmoid_cross_entropy(1, input({4}), 2); },
           {"weighted_sigmoid_cross_entropy", "logits is the number 1"})
OP_REFUSES(softmax_cross_entropy, numbers_of_classes,
           [] {
             softmax_cross_entropy(input({4, 3}), input({4, 3}, i32));
           },
           {"sparse_softmax_cross_entropy()"})
OP_REFUSES(softmax_cross_entropy, other_shapes,
           [] {
             softmax_cross_entropy(input({4, 3}), input({4}));
           },
           {"logits f32[4, 3]", "labels f32[4]"})
OP_REFUSES(softmax_cross_entropy, too_smooth,
           [] {
             softmax_cross_entropy(input({4, 3}), input({4, 3}), {.label_smoothing = 1.5});
           },
           {"label_smoothing 1.5", "[0, 1]"})
OP_REFUSES(softmax_cross_entropy, scalars,
           [] { softmax_cross_entropy(input({}), input({}), {.label_smoothing = 0.1}); }, {"axis -1"})

}  // namespace martello::testing
