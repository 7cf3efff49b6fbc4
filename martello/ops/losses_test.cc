#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/internal/test_images.h>
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

OpCase weighted_row(std::string label, HostTensor x, double weight) {
  OpCase c = sigmoid_row(std::move(label), x, uniform(x.shape(), 0, 1, 2));
  c.build = [=](TensorList in) { return TensorList{weighted_sigmoid_cross_entropy(in[0], in[1], weight)}; };
  c.reference = [=](const HostTensors& in) {
    return mapped(in, [=](const auto& v) { return naive_sigmoid_loss(v[0], v[1], weight); });
  };
  return c;
}
OpCase tensor_of_weights() {
  OpCase c = weighted_row("tensor", randn({5, 7}), 1);
  c.inputs.push_back(uniform({7}, 0.5, 4));
  c.build = [](TensorList x) { return TensorList{weighted_sigmoid_cross_entropy(x[0], x[1], x[2])}; };
  c.reference = [](const HostTensors& in) {
    return mapped(in, [](const auto& v) { return naive_sigmoid_loss(v[0], v[1], v[2]); });
  };
  c.second_order = false;
  return c;
}

OpCase softmax_row(std::string label, HostTensor x, double smoothing) {
  const HostTensor labels = uniform(x.shape(), 0, 1, 2);
  return {.label = std::move(label),
          .inputs = {std::move(x), labels},
          .build = [=](TensorList in) { return TensorList{softmax_cross_entropy(in[0], in[1], {smoothing})}; },
          .reference = [=](const HostTensors& in) { return naive_softmax_loss(in, smoothing); }};
}

const OpTestRows sigmoid_rows("sigmoid_cross_entropy", __FILE__, __LINE__,
                              image_rows<uint64_t>({2}, [](std::string label, HostTensor x, uint64_t seed) {
                                return sigmoid_row(std::move(label), x, uniform(x.shape(), 0, 1, seed));
                              }));
const OpTestRows weighted_rows("weighted_sigmoid_cross_entropy", __FILE__, __LINE__,
                               image_rows<double>({0.25, 1, 1.5, 6}, weighted_row));
OP_TEST(weighted_sigmoid_cross_entropy, tensor_of_weights());
const OpTestRows softmax_rows("softmax_cross_entropy", __FILE__, __LINE__,
                              image_rows<double>({0, 0.1, 0.3, 1}, softmax_row));
OP_TEST(softmax_cross_entropy, twice(softmax_row("few classes", randn({4, 7}), 0.1)),
        twice(softmax_row("vector", randn({3}), 0)), twice(softmax_row("one class", randn({6, 1}), 0.1)),
        softmax_row("many classes", randn({33, 40}), 0.1), softmax_row("no rows", randn({0, 4}), 1));

double total(const HostTensor& losses, LossReduction reduction) {
  double sum = 0;
  for (int64_t i = 0; i < losses.num_elements(); ++i) sum += losses.at(i);
  return reduction == LossReduction::mean ? sum / static_cast<double>(losses.num_elements()) : sum;
}

// f of prediction and target. The mean of nothing is NaN, which has no differences.
OpCase reduced_row(std::string label, const HostTensor& x, LossReduction reduction,
                   std::function<Tensor(Tensor, Tensor)> loss, Element f) {
  return {.label = std::move(label),
          .inputs = {x, randn(x.shape(), 2)},
          .build = [=](TensorList in) { return TensorList{loss(in[0], in[1])}; },
          .reference =
              [=](const HostTensors& in) {
                const HostTensors losses = mapped(in, f);
                if (reduction == LossReduction::none) return losses;
                return HostTensors{HostTensor(total(losses[0], reduction))};
              },
          .gradient = reduction != LossReduction::mean || x.num_elements() > 0};
}

OpCase huber_row(std::string label, const HostTensor& x, HuberLossAttrs a) {
  return reduced_row(
      std::move(label), x, a.reduction, [=](Tensor p, Tensor t) { return huber_loss(p, t, a); },
      [=](const std::vector<double>& v) { return naive_huber(v[0] - v[1], a.delta); });
}
OpCase l1_row(std::string label, const HostTensor& x, L1LossAttrs a) {
  return reduced_row(
      std::move(label), x, a.reduction, [=](Tensor p, Tensor t) { return l1_loss(p, t, a); },
      [](const std::vector<double>& v) { return std::abs(v[0] - v[1]); });
}
OpCase mse_row(std::string label, const HostTensor& x, LossReduction reduction) {
  return twice(reduced_row(
      std::move(label), x, reduction, [](Tensor p, Tensor t) { return mean_squared_error(p, t); },
      [](const std::vector<double>& v) { return (v[0] - v[1]) * (v[0] - v[1]); }));
}

constexpr LossReduction kMean = LossReduction::mean, kSum = LossReduction::sum, kNone = LossReduction::none;

const OpTestRows huber_rows("huber_loss", __FILE__, __LINE__,
                            image_rows<HuberLossAttrs>({{1, kNone}, {0.3, kMean}, {1, kSum}, {0.3, kNone}, {1, kMean}},
                                                       huber_row));
OP_TEST(huber_loss, huber_row("scalar", randn({}), {}), huber_row("vector", randn({37}), {0.3, kSum}));
const OpTestRows l1_rows("l1_loss", __FILE__, __LINE__,
                         image_rows<L1LossAttrs>({{kMean}, {kNone}, {kSum}, {kNone}, {kMean}}, l1_row));
OP_TEST(l1_loss, l1_row("scalar", randn({}), {}), l1_row("vector", randn({37}), {kSum}));
const OpTestRows mse_rows("mean_squared_error", __FILE__, __LINE__, image_rows<LossReduction>({kMean}, mse_row));
OP_TEST(mean_squared_error, mse_row("scalar", randn({}), kMean), mse_row("matrix", randn({4, 7}), kMean));

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
