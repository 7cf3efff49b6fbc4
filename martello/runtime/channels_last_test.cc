// Graphs over images with channels first, and their gradients: the same numbers, up to rounding, whether images are
// turned or not.
#include <martello/autodiff/gradients.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/bias_add.h>
#include <martello/ops/binary.h>
#include <martello/ops/concat.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/group_norm.h>
#include <martello/ops/initializers.h>
#include <martello/ops/lrn.h>
#include <martello/ops/pad.h>
#include <martello/ops/pixel_shuffle.h>
#include <martello/ops/pool.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/resize.h>
#include <martello/ops/slice.h>
#include <martello/ops/split.h>
#include <martello/ops/transpose.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace martello {
namespace {

constexpr DataFormat kFirst = DataFormat::nchw;

// Images that a few ops change, one after the other or side by side.
class RandomImages {
 public:
  explicit RandomImages(uint32_t seed) : random_(seed) {
    HostTensor value({2, 3, 9, 8}, f32);
    std::normal_distribution<float> normal;
    for (float& v : value.mutable_data<float>()) v = normal(random_);
    x_ = placeholder(value.shape(), f32, "x");
    feeds_ = {{x_, value}};
    images_ = {conv(x_, 4, 3, 1)};
    for (int i = 0; i < 9; ++i) images_.push_back(grow());
    const Tensor loss = reduce_mean(square(images_.back())) + reduce_mean(tanh(pick()));
    fetches_ = {loss, images_.back(), pick()};
    std::vector<Tensor> sources{x_};
    for (const Variable& v : trainable_variables()) sources.push_back(v.handle());
    for (const Tensor& d :
         gradients(loss, TensorList(sources), {}, {.unconnected = GradientOptions::Unconnected::zeros}))
      fetches_.push_back(d);
  }

  HostTensors run(SessionOptions options) const {
    return Session(scope_.graph(), std::move(options)).run(fetches_, feeds_);
  }

 private:
  size_t below(size_t n) { return random_() % n; }
  Tensor pick() { return images_[images_.size() - 1 - std::min(below(images_.size()), below(images_.size()))]; }
  Tensor conv(Tensor x, int64_t filters, int size, int stride) {
    const Variable w = raw_variable("W", {.shape = {size, size, x.dim(1), filters}, .initializer = he_normal()});
    return conv2d(x, w, {.stride = stride, .data_format = kFirst});
  }

  Tensor grow() {
    const Tensor x = pick();
    const int64_t c = x.dim(1);
    const auto vector = [&](double low, double high) {
      return raw_variable("v", {.shape = {c}, .initializer = uniform_init(low, high)}).handle();
    };
    switch (below(22)) {
      case 0: return conv(x, 5, 3, 1);
      case 1: return conv(x, 2, 1, 1);
      case 2: return x.dim(2) > 2 && x.dim(3) > 2 ? conv(x, 6, 3, 2) : tanh(x);
      case 3: {
        const Variable w = raw_variable("up", {.shape = {3, 3, 2, c}, .initializer = he_normal()});
        return x.dim(2) * x.dim(3) < 100 ? conv2d_transpose(x, w, {.stride = 2, .data_format = kFirst}) : tanh(x);
      }
      case 4: return x.dim(2) > 1 && x.dim(3) > 1 ? avg_pool(x, {.data_format = kFirst}) : sigmoid(x);
      case 5: return max_pool(x, {.size = 3, .stride = 1, .padding = Pad::same, .data_format = kFirst});
      case 6: return batch_norm_training(x, vector(0.5, 1.5), vector(-1, 1), {.data_format = kFirst}).y;
      case 7: return instance_norm(x, vector(0.5, 1.5), vector(-1, 1), {.data_format = kFirst});
      case 8: return group_norm(x, vector(0.5, 1.5), vector(-1, 1), {.groups = 1, .data_format = kFirst});
      case 9: return tanh(x);
      case 10: return bias_add(x, vector(-1, 1), {.data_format = kFirst});
      case 11: return x * sigmoid(reduce_mean(x, {.axes = {2, 3}, .keep_dims = true}));
      case 12: return concat({x, tanh(x)}, 1);
      case 13: return concat({x, x * 0.5}, 2);
      case 14: return c > 1 ? split(x, {1, -1}, 1)[1] : x * 2;
      case 15: return pad(x, {.before = {0, 1, 0, 2}, .after = {0, 0, 1, 0}, .value = 0.5});
      case 16: return strided_slice(x, {0, kEnd}, {2, kBefore}, {1, -1});
      case 17: return resize(x, {5, 7}, {.data_format = kFirst});
      case 18:
        return c % 4 == 0 ? pixel_shuffle(x, {.data_format = kFirst})
                          : pixel_unshuffle(pad(x, even(x)), {.data_format = kFirst});
      case 19: return lrn(x, {.radius = 1, .data_format = kFirst});
      case 20: return transpose(transpose(x, {0, 2, 3, 1}) * 0.7, {0, 3, 1, 2});
      default: return reshape(reshape(x, {2, -1}) * 1.1, Shape(2, c, x.dim(2), x.dim(3)));
    }
  }
  static PadAttrs even(Tensor x) { return {.before = {0, 0, 0, 0}, .after = {0, 0, x.dim(2) % 2, x.dim(3) % 2}}; }

  std::mt19937 random_;
  GraphScope scope_;
  Tensor x_;
  Feeds feeds_;
  std::vector<Tensor> images_;
  TensorList fetches_;
};

double norm_of(const HostTensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) sum += x.at(i) * x.at(i);
  return std::sqrt(sum);
}

TEST(channels_last, changes_no_number_but_by_rounding) {
  int turned = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const RandomImages images(seed);
    const HostTensors expected = images.run({.disabled_passes = {"channels_last"}}), got = images.run({});
    ASSERT_EQ(got.size(), expected.size());
    turned += !std::equal(got.begin(), got.end(), expected.begin(),
                          [](const HostTensor& a, const HostTensor& b) { return a.same_bits(b); });
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].shape(), expected[i].shape()) << seed << ", fetch " << i;
      HostTensor difference = got[i];
      for (int64_t k = 0; k < difference.num_elements(); ++k) difference.set(k, got[i].at(k) - expected[i].at(k));
      // A largest element that changes place by rounding is worth some hundredths.
      EXPECT_LE(norm_of(difference), 0.05 * norm_of(expected[i]) + 1e-5) << seed << ", fetch " << i;
    }
  }
  EXPECT_GT(turned, 200);
}

}  // namespace
}  // namespace martello
