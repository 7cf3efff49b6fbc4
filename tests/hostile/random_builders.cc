#include "random_graph.h"

#include <algorithm>

namespace martello::testing {
namespace {

// Any integers in [0, limit).
Tensor indices_below(RandomGraph& g, Shape shape, int64_t limit) {
  HostTensor value(shape, g.dice().one_in(2) ? i32 : i64);
  MARTELLO_CHECK(limit > 0 || value.num_elements() == 0, "[random_graph] nothing to point at");
  for (int64_t i = 0; i < value.num_elements(); ++i) value.set(i, static_cast<double>(g.dice().below(limit)));
  return constant(value, "indices");
}

Tensor known(Tensor t, int least_rank) {
  MARTELLO_CHECK(t.shape().is_known() && t.rank() >= least_rank, "[random_graph] needs a known shape");
  return t;
}

Tensor weights(RandomGraph& g, Shape shape, DType dtype) { return constant(tame_value(shape, dtype, g.dice()), "w"); }

void build_matmul(RandomGraph& g) {
  const Tensor x = known(g.any_floating(), 2);
  const int64_t n = 1 + g.dice().below(5);
  const bool transposed = g.dice().one_in(2);
  const Tensor w = weights(g, transposed ? Shape(n, x.dim(-1)) : Shape(x.dim(-1), n), x.dtype());
  g.add(matmul(x, w, {.transpose_b = transposed}));
}

void build_linear(RandomGraph& g) {
  const Tensor x = known(g.any_floating(), 2);
  const int64_t n = 1 + g.dice().below(20);
  const Tensor y = matmul(x, weights(g, {x.dim(-1), n}, x.dtype())) + weights(g, Shape(n), x.dtype());
  g.add(g.dice().one_in(2) ? relu(y) : y);
}

void build_convolution(RandomGraph& g) {
  const Tensor x = known(g.any_floating(), 1), images = reshape(x, {1, 1, -1, 1});
  const int64_t width = 1 + g.dice().below(3), n = 1 + g.dice().below(20);
  const Conv2DAttrs attrs{.stride = {1, 1 + static_cast<int>(g.dice().below(2))}};
  const Tensor y = conv2d(images, weights(g, {1, width, 1, n}, x.dtype()), attrs) + weights(g, Shape(n), x.dtype());
  g.add(g.dice().one_in(2) ? relu(y) : y);
}

void build_mask(RandomGraph& g) {
  const Tensor x = known(g.any_tensor(), 1);
  HostTensor mask(Shape(x.dim(0)), boolean);
  for (int64_t i = 0; i < mask.num_elements(); ++i) mask.set(i, static_cast<double>(g.dice().below(2)));
  const Tensor kept = boolean_mask(x, constant(mask, "mask"));
  g.add({kept, g.dice().one_in(2) ? kept + kept : shape(kept)});
}

void build_gather(RandomGraph& g) {
  const Tensor x = known(g.any_tensor(), 1);
  const int axis = static_cast<int>(g.dice().below(x.rank()));
  g.add(gather(x, indices_below(g, Shape(4), x.dim(axis)), {.axis = axis}));
}

void build_scatter(RandomGraph& g) {
  const Tensor x = known(g.any_tensor(), 1);
  const Tensor at = indices_below(g, Shape(x.dim(0)), 5);
  g.add(scatter_nd(expand_dims(at, -1), x, Extents(x.shape().with(0, 5))));
}

void build_labels(RandomGraph& g) {
  const Tensor x = known(g.any_floating(), 1);
  const Tensor label = indices_below(g, x.shape().slice(0, x.rank() - 1), x.dim(-1));
  g.add({sparse_softmax_cross_entropy(x, label), prediction_incorrect(x, label), in_top_k(x, label, 1)});
}

void build_random_numbers(RandomGraph& g) {
  const Tensor x = g.any_tensor();
  const Extents like = extents_like(x);
  switch (g.dice().below(6)) {
    case 0: return g.add(random_uniform(like, {.dtype = g.dice().one_in(2) ? f32 : f64}));
    case 1: return g.add(random_normal(like));
    case 2: return g.add(random_truncated_normal(like));
    case 3: return g.add(random_bernoulli(like));
    case 4: return g.add(random_integers(like, {.low = -2, .high = 5}));
    default: return g.add(random_shuffle(x));
  }
}

void build_cond(RandomGraph& g) {
  const Tensor x = g.any_floating(), other = g.any_tensor();
  const Tensor pred = reduce_sum(cast(other, f32)) > 0;
  g.add(cond(
      pred, [&] { return exp(x) * 2; }, [&] { return relu(x - 1); }));
}

void build_chain(RandomGraph& g) {
  Tensor x = g.any_floating();
  for (int64_t n = 2 + g.dice().below(6); n > 0; --n) {
    switch (g.dice().below(7)) {
      case 0: x = relu(x); break;
      case 1: x = x * 0.5 + 1; break;
      case 2: x = tanh(x); break;
      case 3: x = where(x > 0, x, -x); break;
      case 4: x = maximum(x, reduce_mean(x)); break;
      case 5: x = x - square(x); break;
      default: x = sigmoid(x) * x;
    }
  }
  g.add(g.dice().one_in(2) ? reduce_sum(x, {.axes = x.rank() > 0 ? Axes(-1) : Axes()}) : x);
}

void build_write(RandomGraph& g) {
  const Variable v = g.any_variable();
  const Tensor value = g.dice().one_in(2) ? cast(weights(g, v.shape(), f32), v.dtype()) : Tensor(v);
  switch (g.dice().below(4)) {
    case 0: return g.add(assign(v, value));
    case 1: return g.add(assign_add(v, value));
    case 2: return g.add(assign_sub(v, value));
    default:
      return g.add(
          scatter_add(v, indices_below(g, Shape(2), v.rank() > 0 ? v.dim(0) : 0), weights(g, Shape(), v.dtype())));
  }
}

void build_read(RandomGraph& g) { g.add(read_variable(g.any_variable())); }

void build_optimizer(RandomGraph& g) {
  const Variable v = g.any_variable();
  const Tensor cost = reduce_sum(square(v * g.any_tensor()));
  g.add(g.dice().one_in(2) ? Momentum(0.1).minimize(cost, {v}) : Adam(0.1).minimize(cost, {v}));
}

void build_reshape(RandomGraph& g) {
  const Tensor x = g.any_tensor();
  switch (g.dice().below(4)) {
    case 0: return g.add(flatten(x));
    case 1: return g.add(reshape(x, {-1}));
    case 2: return g.add(transpose(x));
    default: return g.add(concat({x, x}, 0));
  }
}

constexpr Builder kBuilders[] = {build_matmul, build_linear, build_mask,           build_gather,  build_scatter,
                                 build_labels, build_cond,   build_random_numbers, build_chain,   build_chain,
                                 build_write,  build_read,   build_optimizer,      build_reshape, build_convolution};

}  // namespace

std::span<const Builder> random_builders() { return kBuilders; }

}  // namespace martello::testing
