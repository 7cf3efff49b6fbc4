#include <martello/base/checked.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/compare.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/like.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/slice.h>
#include <martello/ops/transpose.h>
#include <martello/ops/where.h>

namespace martello::internal {

int64_t times(int64_t n, int64_t size) { return size < 0 ? kUnknown : checked_mul(n, size); }

void check_gates(const ShapeContext& c, size_t gates, size_t state, int64_t n) {
  const Shape &z = c.in[gates].shape, &s = c.in[state].shape;
  const std::string z_name = input_name(c, gates), s_name = input_name(c, state);
  const int rank = s.rank();
  MARTELLO_CHECK(rank >= 1 && z.rank() == rank, c.where(), z_name, " ", z, " and ", s_name, " ", s,
                 " need the same rank, at least 1: [..., ", n, " units] and [..., units].");
  const int64_t columns = dim_of(z, rank - 1), units = dim_of(s, rank - 1);
  MARTELLO_CHECK(may_be_equal(columns, times(n, units)), c.where(), z_name, " ", z, " has ", columns,
                 " columns but needs ", n, " times the ", units, " of ", s_name, " ", s, ".");
  check_same_shape(c, z_name.c_str(), z.slice(0, rank - 1), s_name.c_str(), s.slice(0, rank - 1));
}

Shape SequenceDims::of_sequence(int64_t n) const { return {steps, rows, n == 1 ? units : times(n, units)}; }
Shape SequenceDims::of_state() const { return {rows, units}; }

namespace {

// Takes what the input says about a size that others have named too.
void agree(const ShapeContext& c, size_t input, int axis, const char* what, int64_t& size) {
  const int64_t own = dim_of(c.in[input].shape, axis);
  MARTELLO_CHECK(may_be_equal(own, size), c.where(), input_name(c, input), " ", c.in[input].shape, " has ", own, " ",
                 what, " but the inputs before it have ", size, ".");
  size = more_known(size, own);
}

void check_columns(const ShapeContext& c, size_t input, int64_t n, int64_t units) {
  const Shape& shape = c.in[input].shape;
  const int64_t columns = dim_of(shape, shape.rank() - 1);
  MARTELLO_CHECK(may_be_equal(columns, times(n, units)), c.where(), input_name(c, input), " ", shape, " has ", columns,
                 " columns but needs ", n, " times ", units, " units.");
}

}  // namespace

SequenceDims check_sequence(const ShapeContext& c, int64_t n, size_t gates, size_t w, const std::vector<size_t>& states,
                            size_t lengths, int64_t n_of_w) {
  MARTELLO_CHECK(c.in.size() <= lengths + 1, c.where(), "takes at most one tensor of lengths, not ",
                 c.in.size() - lengths, ".");
  c.check_rank(gates, 3);
  c.check_rank(w, 2);
  SequenceDims d{dim_of(c.in[gates].shape, 0), dim_of(c.in[gates].shape, 1), dim_of(c.in[w].shape, 0)};
  for (size_t i : states) {
    c.check_rank(i, 2);
    agree(c, i, 0, "rows", d.rows);
    agree(c, i, 1, "units", d.units);
  }
  check_columns(c, w, n_of_w > 0 ? n_of_w : n, d.units);
  check_columns(c, gates, n, d.units);
  if (c.in.size() <= lengths) return d;
  check_index_dtype(c, lengths);
  c.check_rank(lengths, 1);
  agree(c, lengths, 0, "rows", d.rows);
  return d;
}

void check_floating_before(const ShapeContext& c, size_t lengths) {
  const size_t count = std::min(c.in.size(), lengths);
  check_dtypes(ShapeContext{c.op, c.in.first(count), c.attributes, {}}, kFloatingDTypes);
}

Cost sequence_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  double bytes = 0;
  for (auto list : {in, out})
    for (const TensorSpec& t : list)
      bytes += static_cast<double>(t.shape.num_elements()) * static_cast<double>(size_of(t.dtype));
  const Shape& gates = in[0].shape;
  const double units = static_cast<double>(gates[2]) / 4;
  return {.flops = 2 * static_cast<double>(gates.num_elements()) * units, .bytes = bytes};
}

TensorList gradient_of_primitives(const GradContext& c, const std::function<TensorList(const TensorList& in)>& make) {
  // Copies, because one input may have been computed from another.
  TensorList in, xs, ys, dys;
  std::vector<size_t> place;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    in.push_back(identity(c.input(i)));
    if (!c.needed[i]) continue;
    xs.push_back(in[i]);
    place.push_back(i);
  }
  const TensorList values = make(in);
  for (size_t i = 0; i < values.size(); ++i) {
    if (c.grad(i).is_null()) continue;
    ys.push_back(values[i]);
    dys.push_back(c.grad(i));
  }
  const TensorList grads = c.builder->gradients(ys, xs, dys);
  std::vector<Tensor> result(c.inputs.size());
  for (size_t i = 0; i < place.size(); ++i) result[place[i]] = grads[i];
  return result;
}

int64_t known_steps(Tensor x, const char* op) {
  constexpr int64_t kMostUnrolled = 4096;
  MARTELLO_CHECK(0 <= x.dim(0) && x.dim(0) <= kMostUnrolled, "[", op, "] a gradient of its gradient is a chain of ",
                 "steps, whose number must be known and at most ", kMostUnrolled, ", but x is ", x.dtype(), x.shape(),
                 ".");
  return x.dim(0);
}

Tensor step_counts(const TensorList& in, size_t lengths, int64_t t) {
  return in.size() > lengths ? expand_dims(in[lengths] > t, 1) : Tensor();
}
Tensor where_counts(Tensor counts, Tensor x, Tensor otherwise) {
  return counts.is_null() ? x : where(counts, x, otherwise);
}

Tensor time_major(const Operand& x, bool is_time_major, const char* op, const Name& name) {
  MARTELLO_CHECK(!x.is_number() && !x.tensor().is_null(), "[", op, " '", name.text(), "'] x is ",
                 x.is_number() ? "a number" : "a null Tensor", "; it takes a sequence of rank 3.\n  at ",
                 LineScope::effective(x.line()).str());
  const Tensor t = x.tensor();
  MARTELLO_CHECK(t.rank() == 3, "[", op, " '", name.text(), "'] takes a sequence of rank 3 but x is ", t.dtype(),
                 t.shape(), ".\n  at ", LineScope::effective(x.line()).str());
  return is_time_major ? t : transpose(t, {1, 0, 2});
}

Tensor zero_state(Tensor x, Tensor w) {
  const int64_t rows = x.dim(1), units = w.rank() > 0 ? w.dim(0) : kUnknown;
  if (rows >= 0 && units >= 0) return zeros({rows, units}, x.dtype());
  return broadcast_to(constant(HostTensor::full({}, x.dtype(), 0), "zero"), {shape(x)[1], shape(w)[0]});
}

Tensor as_rows(Tensor x) {
  const int64_t columns = x.dim(2);
  if (columns > 0) return reshape(x, {int64_t{-1}, columns});
  const Tensor sizes = shape(x);
  return reshape(x, {sizes[0] * sizes[1], sizes[2]});
}

Tensor shifted(Tensor first, Tensor x) { return strided_slice(concat({expand_dims(first, 0), x}, 0), {0}, {-1}); }

}  // namespace martello::internal
