#include <martello/models/batch_norm.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/normalize.h>
#include <martello/models/internal/split_dim.h>
#include <martello/models/internal/training.h>
#include <martello/ops/all_reduce.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/unary.h>

#include <atomic>

namespace martello {
namespace {

// The least epsilon of images: the kernels that models of other frameworks were trained with raise it so.
constexpr double kLeastImageEpsilon = 1.001e-5;

struct Averages {
  Variable mean, variance;
};
// What a way to normalize by the batch gives; the moments are those that the averages take in.
struct Normalized {
  Tensor y;
  Moments moments;
};

struct Layer {
  LayerScope& scope;
  const BatchNorm& o;
  TowerContext& tower;
  int axis;
  int64_t channels;
  internal::Affine affine = {};

  bool uses_batch() const { return o.training.is_set() ? *o.training : tower.is_training(); }
};

void check_options(const Layer& l) {
  MARTELLO_CHECK(0 <= *l.o.momentum && *l.o.momentum <= 1, l.scope.where(), "momentum is ", *l.o.momentum,
                 ": the part of the old average that is kept is between 0 and 1.");
  MARTELLO_CHECK(*l.o.epsilon > 0, l.scope.where(), "epsilon is ", *l.o.epsilon, "; it is greater than 0.");
  MARTELLO_CHECK(*l.o.virtual_batch_size >= 0, l.scope.where(), "virtual_batch_size is ", *l.o.virtual_batch_size,
                 "; it is a number of samples, or 0 for the whole batch.");
  MARTELLO_CHECK(!*l.o.sync_statistics || *l.o.virtual_batch_size == 0, l.scope.where(),
                 "sync_statistics and virtual_batch_size ", *l.o.virtual_batch_size,
                 " exclude each other: one widens the batch of the statistics, one narrows it.");
  MARTELLO_CHECK(l.tower.is_training() || !l.uses_batch() || *l.o.ema_update != EmaUpdate::internal, l.scope.where(),
                 "ema_update internal with training = true in inference tower '", l.tower.name(),
                 "' would change the averages while it predicts. Use skip there.");
}

Averages make_averages(Layer& l, DType dtype) {
  VariableOptions options{.shape = {l.channels}, .dtype = dtype, .initializer = zeros(), .trainable = false};
  if (l.tower.is_main_training_tower()) options.collections = {kModelVariables};
  const Variable mean = l.scope.variable("mean/EMA", options);
  options.initializer = ones();
  return {mean, l.scope.variable("variance/EMA", options)};
}

// n / (n - 1) for the n elements of a channel.
Tensor unbiased(Tensor variance, const Tensor& x, int64_t channels) {
  if (x.shape().is_known()) {
    const double n = static_cast<double>(x.shape().num_elements() / channels);
    return variance * (n > 1 ? n / (n - 1) : 1.0);
  }
  const Tensor n = cast(size(x), x.dtype()) / static_cast<double>(channels);
  return variance * (n / maximum(n - 1, 1));
}

Normalized by_batch(const Layer& l, Tensor x) {
  const bool is_image = x.rank() == 4;
  const double epsilon = is_image ? std::max(*l.o.epsilon, kLeastImageEpsilon) : *l.o.epsilon;
  const auto r =
      batch_norm_training(x, l.affine.gamma, l.affine.beta, {.epsilon = epsilon, .data_format = *l.o.data_format});
  return {r.y, {r.mean, is_image ? unbiased(r.variance, x, l.channels) : r.variance}};
}

internal::Affine broadcast_affine(const Layer& l, const Tensor& x) {
  return {internal::per_channel(l.affine.gamma, x, l.axis), internal::per_channel(l.affine.beta, x, l.axis)};
}

// Of [groups, ..., channels, ...]; of no groups something that the averages do not look at.
Tensor first_group(const Tensor& t, int64_t channels) {
  const Tensor groups = reshape(t, {-1, channels});
  if (groups.dim(0) != kUnknown) return groups[0];
  return concat({groups, zeros()({1, channels}, t.dtype())}, 0)[0];
}

// Each virtual batch for itself; the averages see the first.
Normalized by_virtual_batch(const Layer& l, Tensor x) {
  const int64_t size = *l.o.virtual_batch_size;
  MARTELLO_CHECK(x.dim(0) == kUnknown || x.dim(0) % size == 0, l.scope.where(), "virtual_batch_size ", size,
                 " does not divide the batch of x ", x.shape(), ".");
  const Tensor groups = internal::split_dim(x, 0, size);
  std::vector<int> axes = {1};
  for (int i = 1; i < x.rank(); ++i)
    if (i != l.axis) axes.push_back(i + 1);
  const Moments m = moments(groups, {.axes = Axes(axes), .keep_dims = true});
  const Tensor y = internal::normalize(groups, m, broadcast_affine(l, x), *l.o.epsilon);
  return {reshape(y, extents_like(x)), {first_group(m.mean, l.channels), first_group(m.variance, l.channels)}};
}

// Means over all towers of E[x] and E[x^2]; their batches are of one size.
Normalized by_all_towers(const Layer& l, Tensor x) {
  MARTELLO_CHECK(l.tower.total() == 1, l.scope.where(), "sync_statistics with ", l.tower.total(),
                 " towers needs a communicator between them, which there is not yet. Use one tower, or leave it out.");
  logger::warn(l.scope.where(), "sync_statistics has no effect: there is one tower.");
  const ReduceAttrs over{.axes = internal::reduced_axes(x, l.axis)};
  const Tensor both =
      all_reduce(stack({reduce_mean(x, over), reduce_mean(square(x), over)}), {.kind = AllReduceKind::mean});
  const Tensor mean = both[0], variance = maximum(both[1] - square(mean), 0);  // by rounding it may be less
  const Moments shaped{internal::per_channel(mean, x, l.axis), internal::per_channel(variance, x, l.axis)};
  return {internal::normalize(x, shaped, broadcast_affine(l, x), *l.o.epsilon), {mean, variance}};
}

Tensor with_updates(const Layer& l, const Tensor& x, const Averages& averages, const Normalized& n) {
  if (!l.tower.is_main_training_tower() || *l.o.ema_update == EmaUpdate::skip) return n.y;
  const std::vector<Operation> updates = {
      internal::update_average(averages.mean, n.moments.mean, *l.o.momentum, x),
      internal::update_average(averages.variance, n.moments.variance, *l.o.momentum, x)};
  if (*l.o.ema_update == EmaUpdate::internal || *l.o.sync_statistics) {
    ControlDependencies after(updates);
    return identity(n.y, "updated");
  }
  for (const Operation& u : updates) Graph::current().collections().add(kUpdateOps, u);
  return n.y;
}

Tensor by_averages(const Layer& l, Tensor x, const Averages& averages) {
  static std::atomic_flag is_told;
  if (l.tower.is_training() && !is_told.test_and_set())
    logger::info(l.scope.where(), "training = false in a training tower: statistics are frozen. (Told once.)");
  const double epsilon = x.rank() == 4 ? std::max(*l.o.epsilon, kLeastImageEpsilon) : *l.o.epsilon;
  return batch_norm_inference(x, l.affine.gamma, l.affine.beta, averages.mean, averages.variance,
                              {.epsilon = epsilon, .data_format = *l.o.data_format});
}

Normalized by_statistics(const Layer& l, Tensor x) {
  if (*l.o.sync_statistics && l.tower.is_training()) return by_all_towers(l, x);
  if (*l.o.virtual_batch_size > 0 && l.tower.is_training()) return by_virtual_batch(l, x);
  return by_batch(l, x);
}

}  // namespace

LayerOutput batch_norm(std::string_view name, Tensor x, BatchNorm options, SourceLine line) {
  const BatchNorm o = with_arg_scope(std::move(options));
  const LayerCall call{.type = "batch_norm", .name = name, .input = x, .line = line, .logs_shape = false};
  return build_layer(call, [&](LayerScope& scope) {
    const int axis = internal::norm_axis(scope, x, *o.data_format);
    Layer l{scope, o, internal::tower_of(scope), axis, scope.known_dim(x, axis, "channels")};
    check_options(l);
    l.affine = internal::make_affine(scope, l.channels, x.dtype(), {*o.center, *o.scale, *o.beta_init, *o.gamma_init});
    const Averages averages = make_averages(l, x.dtype());
    return l.uses_batch() ? with_updates(l, x, averages, by_statistics(l, x)) : by_averages(l, x, averages);
  });
}

}  // namespace martello
