#pragma once
#include <martello/models/activations.h>
#include <martello/models/batch_norm.h>
#include <martello/models/conv.h>
#include <martello/models/dropout.h>
#include <martello/models/fully_connected.h>
#include <martello/models/norms.h>
#include <martello/models/pooling.h>

#include <type_traits>
#include <utility>

namespace martello {

// Layers in a row:
//   LinearWrap(image).conv2d("conv0", {.filters = 32}).max_pooling("pool0").fully_connected("fc", {.units =
//   10}).tensor()
class LinearWrap {
 public:
  using Line = SourceLine;
  explicit LinearWrap(Tensor x) : x_(x) {}

  LinearWrap& conv2d(std::string_view name, Conv2D o = {}, Line l = Line::current()) {
    return set(martello::conv2d(name, x_, std::move(o), l));
  }
  LinearWrap& conv2d_transpose(std::string_view name, Conv2D o = {}, Line l = Line::current()) {
    return set(martello::conv2d_transpose(name, x_, std::move(o), l));
  }
  LinearWrap& depth_conv(std::string_view name, DepthConv o = {}, Line l = Line::current()) {
    return set(martello::depth_conv(name, x_, std::move(o), l));
  }
  LinearWrap& max_pooling(std::string_view name, Pooling o = {}, Line l = Line::current()) {
    return set(martello::max_pooling(name, x_, o, l));
  }
  LinearWrap& avg_pooling(std::string_view name, Pooling o = {}, Line l = Line::current()) {
    return set(martello::avg_pooling(name, x_, o, l));
  }
  LinearWrap& global_avg_pooling(std::string_view name, GlobalAvgPooling o = {}, Line l = Line::current()) {
    return set(martello::global_avg_pooling(name, x_, o, l));
  }
  LinearWrap& fixed_unpooling(std::string_view name, FixedUnPooling o = {}, Line l = Line::current()) {
    return set(martello::fixed_unpooling(name, x_, std::move(o), l));
  }
  LinearWrap& fully_connected(std::string_view name, FullyConnected o = {}, Line l = Line::current()) {
    return set(martello::fully_connected(name, x_, std::move(o), l));
  }
  LinearWrap& batch_norm(std::string_view name, BatchNorm o = {}, Line l = Line::current()) {
    return set(martello::batch_norm(name, x_, std::move(o), l));
  }
  LinearWrap& batch_renorm(std::string_view name, BatchRenorm o = {}, Line l = Line::current()) {
    return set(martello::batch_renorm(name, x_, std::move(o), l));
  }
  LinearWrap& layer_norm(std::string_view name, LayerNorm o = {}, Line l = Line::current()) {
    return set(martello::layer_norm(name, x_, std::move(o), l));
  }
  LinearWrap& instance_norm(std::string_view name, InstanceNorm o = {}, Line l = Line::current()) {
    return set(martello::instance_norm(name, x_, std::move(o), l));
  }
  LinearWrap& group_norm(std::string_view name, GroupNorm o = {}, Line l = Line::current()) {
    return set(martello::group_norm(name, x_, std::move(o), l));
  }
  LinearWrap& bn_relu(std::string_view name, Line l = Line::current()) { return set(martello::bn_relu(name, x_, l)); }
  LinearWrap& prelu(std::string_view name, PReLU o = {}, Line l = Line::current()) {
    return set(martello::prelu(name, x_, o, l));
  }
  LinearWrap& maxout(std::string_view name, Maxout o = {}, Line l = Line::current()) {
    return set(martello::maxout(name, x_, o, l));
  }
  LinearWrap& dropout(std::string_view name, Dropout o = {}, Line l = Line::current()) {
    return set(martello::dropout(name, x_, o, l));
  }
  LinearWrap& concat_with(std::string_view name, TensorList others, int axis, Line l = Line::current()) {
    return set(martello::concat_with(name, x_, std::move(others), axis, l));
  }
  // f(x, args...): a user's block, an op, a lambda.
  template <class F, class... A>
  requires std::is_invocable_r_v<Tensor, F, Tensor, A...> LinearWrap& apply(F&& f, A&&... args) {
    return set(std::forward<F>(f)(x_, std::forward<A>(args)...));
  }
  // f(name, x, args...): a user's layer.
  template <class F, class N, class... A>
  requires std::is_invocable_r_v<Tensor, F, N, Tensor, A...> LinearWrap& apply2(F&& f, N&& name, A&&... args) {
    return set(std::forward<F>(f)(std::forward<N>(name), x_, std::forward<A>(args)...));
  }
  // Its name, dtype and shape, to the log.
  LinearWrap& print_tensor();
  Tensor tensor() const { return x_; }

 private:
  LinearWrap& set(Tensor x) {
    x_ = x;
    return *this;
  }
  Tensor x_;
};

}  // namespace martello
