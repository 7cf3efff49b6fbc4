#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/batch_norm.h>
#include <martello/models/internal/normalize.h>
#include <martello/models/internal/training.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/unary.h>

#include <utility>

namespace martello {
namespace {

// A sum of the past, weighted, and the sum of the weights: their quotient has no bias towards the start.
struct Past {
  Variable sum, weight;
};
struct State {
  Variable mean, variance;  // moving averages, for inference
  Past past_mean, past_stddev;
};

State make_state(LayerScope& layer, TowerContext& tower, int64_t channels, DType dtype) {
  const auto make = [&](const char* name, Shape shape, double first) {
    VariableOptions options{
        .shape = std::move(shape), .dtype = dtype, .initializer = constant_init(first), .trainable = false};
    if (tower.is_main_training_tower()) options.collections = {kModelVariables};
    return layer.variable(name, std::move(options));
  };
  State s;
  s.mean = make("moving_mean", {channels}, 0);
  s.variance = make("moving_variance", {channels}, 1);
  s.past_mean = {make("renorm_mean", {channels}, 0), make("renorm_mean_weight", {}, 0)};
  s.past_stddev = {make("renorm_stddev", {channels}, 0), make("renorm_stddev_weight", {}, 0)};
  return s;
}

// What the past says, the present value taking the weight that the past does not have yet.
Tensor mixed(const Past& past, Tensor value) { return past.sum + (1 - past.weight) * value; }

// Of the averages by x.
struct Updates {
  const Tensor& x;
  void add(Variable v, Tensor value, double momentum) const {
    Graph::current().collections().add(kUpdateOps, internal::update_average(v, value, momentum, x));
  }
};

// past.sum / past.weight after this batch, and the update that makes it so.
Tensor take_in(const Updates& updates, const Past& past, Tensor value, double momentum) {
  updates.add(past.sum, value, momentum);
  updates.add(past.weight, ones()(Shape(), value.dtype()), momentum);
  const Tensor sum = past.sum * momentum + value * (1 - momentum);
  return sum / (past.weight * momentum + (1 - momentum));
}

void update(const Updates& updates, const State& s, const Moments& batch, Tensor stddev, const BatchRenorm& o) {
  const Tensor mean = take_in(updates, s.past_mean, batch.mean, *o.renorm_momentum);
  const Tensor new_stddev = take_in(updates, s.past_stddev, stddev, *o.renorm_momentum);
  updates.add(s.mean, mean, *o.momentum);
  updates.add(s.variance, square(new_stddev) - *o.epsilon, *o.momentum);
}

// ((x - mean) / stddev r + d) gamma + beta, with r and d constants as far as gradients go.
Tensor renormalize(Tensor x, const Moments& batch, Tensor stddev, const State& s, const internal::Affine& affine,
                   const BatchRenorm& o, int axis) {
  const Tensor past_stddev = mixed(s.past_stddev, stddev);
  const Tensor r = clip_by_value(stddev / past_stddev, 1 / *o.rmax, *o.rmax);
  const Tensor d = clip_by_value((batch.mean - mixed(s.past_mean, batch.mean)) / past_stddev, -*o.dmax, *o.dmax);
  const Tensor gamma = affine.gamma * stop_gradient(r);
  const Tensor beta = affine.beta + affine.gamma * stop_gradient(d);
  const auto shaped = [&](Tensor v) { return internal::per_channel(v, x, axis); };
  return internal::normalize(x, {shaped(batch.mean), shaped(batch.variance)}, {shaped(gamma), shaped(beta)},
                             *o.epsilon);
}

void check_options(const LayerScope& layer, const BatchRenorm& o) {
  MARTELLO_CHECK(*o.rmax >= 1, layer.where(), "rmax is ", *o.rmax, "; it is at least 1.");
  MARTELLO_CHECK(*o.dmax >= 0, layer.where(), "dmax is ", *o.dmax, "; it is at least 0.");
  MARTELLO_CHECK(*o.epsilon > 0, layer.where(), "epsilon is ", *o.epsilon, "; it is greater than 0.");
  for (const auto& [option, momentum] : {std::pair{"momentum", *o.momentum}, {"renorm_momentum", *o.renorm_momentum}})
    MARTELLO_CHECK(0 <= momentum && momentum <= 1, layer.where(), option, " is ", momentum,
                   ": the part of the old average that is kept is between 0 and 1.");
}

}  // namespace

LayerOutput batch_renorm(std::string_view name, Tensor x, BatchRenorm options, SourceLine line) {
  const BatchRenorm o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "batch_renorm", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& layer) {
    const int axis = internal::norm_axis(layer, x, *o.data_format);
    const int64_t channels = layer.known_dim(x, axis, "channels");
    TowerContext& tower = internal::tower_of(layer);
    check_options(layer, o);
    const auto affine = internal::make_affine(layer, channels, x.dtype(), {*o.center, *o.scale, {}, *o.gamma_init});
    const State state = make_state(layer, tower, channels, x.dtype());
    if (!tower.is_training())
      return batch_norm_inference(x, affine.gamma, affine.beta, state.mean, state.variance,
                                  {.epsilon = *o.epsilon, .data_format = *o.data_format});
    const Moments batch = moments(x, {.axes = internal::reduced_axes(x, axis)});
    const Tensor stddev = sqrt(batch.variance + *o.epsilon);
    if (tower.is_main_training_tower()) update({x}, state, batch, stddev, o);
    return renormalize(x, batch, stddev, state, affine, o, axis);
  });
}

}  // namespace martello
