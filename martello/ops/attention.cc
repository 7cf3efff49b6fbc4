#include <martello/base/error.h>
#include <martello/ops/attention.h>
#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/matmul.h>
#include <martello/ops/range.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/softmax.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

#include <cmath>
#include <limits>

namespace martello {

Kernel attention_cpu(const KernelPlan&);
Kernel attention_grad_cpu(const KernelPlan&);

namespace {

enum In : size_t { kQ, kK, kV, kMask };
namespace grad {
enum In : size_t { kQ, kK, kV, kY, kLse, kDy, kMask };
}

// Throws unless the last two dimensions of q, k and v go together and those before them agree.
void check_matrices(const ShapeContext& c) {
  const Shape &q = c.in[kQ].shape, &k = c.in[kK].shape, &v = c.in[kV].shape;
  const int rank = q.rank();
  MARTELLO_CHECK(rank >= 2 && k.rank() == rank && v.rank() == rank, c.where(), "q ", q, ", k ", k, " and v ", v,
                 " need one rank, at least 2: [..., queries, width], [..., keys, width], [..., keys, values].");
  internal::check_same_shape(c, "k, before its last two dimensions,", k.slice(0, rank - 2), "q", q.slice(0, rank - 2));
  internal::check_same_shape(c, "v, before its last two dimensions,", v.slice(0, rank - 2), "q", q.slice(0, rank - 2));
  MARTELLO_CHECK(internal::may_be_equal(k[-1], q[-1]), c.where(), "k ", k, " has width ", k[-1], " but q ", q, " has ",
                 q[-1], ".");
  MARTELLO_CHECK(internal::may_be_equal(v[-2], k[-2]), c.where(), "v ", v, " has ", v[-2], " keys but k ", k, " has ",
                 k[-2], ".");
}

void check_attrs(const ShapeContext& c) {
  const auto& a = c.attrs<AttentionAttrs>();
  const Shape &q = c.in[kQ].shape, &k = c.in[kK].shape;
  MARTELLO_CHECK(std::isfinite(a.scale) && a.scale >= 0, c.where(), "scale is ", a.scale,
                 "; it must be greater than 0, or 0 for 1 / sqrt(width).");
  MARTELLO_CHECK(!a.causal || internal::may_be_equal(q[-2], k[-2]), c.where(), "causal with ", q[-2], " queries and ",
                 k[-2], " keys: which key belongs to a query is not clear. Use a mask.");
}

void check_mask(const ShapeContext& c, size_t at) {
  MARTELLO_CHECK(c.in.size() <= at + 1, c.where(), "takes at most one mask, not ", c.in.size() - at, ".");
  if (c.in.size() <= at) return;
  const TensorSpec& mask = c.in[at];
  const Shape &q = c.in[kQ].shape, &k = c.in[kK].shape;
  MARTELLO_CHECK(mask.dtype == boolean || mask.dtype == c.in[kQ].dtype, c.where(), "mask is ", mask.str(),
                 "; it is bool, or ", c.in[kQ].dtype, " as q is, to be added to scores.");
  Shape scores = q.slice(0, q.rank() - 1);
  scores.push_back(internal::dim_of(k, k.rank() - 2));
  bool fits = mask.shape.rank() >= 1 && mask.shape.rank() <= scores.rank() &&
              internal::may_be_equal(mask.shape[-1], scores[-1]);
  for (int i = 2; fits && i <= mask.shape.rank(); ++i)
    fits = mask.shape[-i] == 1 || internal::may_be_equal(mask.shape[-i], scores[-i]);
  MARTELLO_CHECK(fits, c.where(), "mask ", mask.shape, " does not broadcast to the scores ", scores,
                 "; its last dimension is the keys, the others agree or are 1.");
}

void check_all(const ShapeContext& c, size_t floating, size_t mask) {
  check_dtypes(ShapeContext{c.op, c.in.first(floating), c.attributes, {}}, kFloatingDTypes);
  check_matrices(c);
  check_attrs(c);
  check_mask(c, mask);
}

std::vector<TensorSpec> attention_shape(const ShapeContext& c) {
  check_all(c, 3, kMask);
  const Shape &q = c.in[kQ].shape, &v = c.in[kV].shape;
  return {{.shape = q.with(q.rank() - 1, internal::dim_of(v, v.rank() - 1)), .dtype = c.in[kQ].dtype},
          {.shape = q.slice(0, q.rank() - 1), .dtype = c.in[kQ].dtype}};
}

std::vector<TensorSpec> attention_grad_shape(const ShapeContext& c) {
  check_all(c, 6, grad::kMask);
  const Shape &q = c.in[kQ].shape, &v = c.in[kV].shape;
  const Shape y = q.with(q.rank() - 1, internal::dim_of(v, v.rank() - 1));
  internal::check_same_shape(c, "y", c.in[grad::kY].shape, "the product", y);
  internal::check_same_shape(c, "dy", c.in[grad::kDy].shape, "the product", y);
  internal::check_same_shape(c, "lse", c.in[grad::kLse].shape, "q", q.slice(0, q.rank() - 1));
  std::vector<TensorSpec> outputs;
  for (size_t i : {kQ, kK, kV}) outputs.push_back({.shape = c.in[i].shape, .dtype = c.in[i].dtype});
  return outputs;
}

// 1 / sqrt(width) times x, unless attributes say how much.
Tensor scaled(Tensor x, Tensor q, const AttentionAttrs& attrs) {
  if (attrs.scale != 0) return x * attrs.scale;
  if (q.dim(-1) > 0) return x / std::sqrt(static_cast<double>(q.dim(-1)));
  return x / sqrt(cast(shape(q)[q.rank() - 1], x.dtype()));
}

constexpr double kUnseen = -std::numeric_limits<double>::infinity();

// Scores as one tensor, -inf where nothing is seen.
Tensor scores_of(Tensor q, Tensor k, Tensor mask, const AttentionAttrs& attrs) {
  Tensor s = scaled(matmul(q, k, {.transpose_b = true}), q, attrs);
  if (attrs.causal) {
    const Tensor i = range(0, shape(q)[q.rank() - 2]), j = range(0, shape(k)[k.rank() - 2]);
    s = where(expand_dims(i, 1) >= expand_dims(j, 0), s, kUnseen);
  }
  if (mask.is_null()) return s;
  return mask.dtype() == boolean ? where(mask, s, kUnseen) : s + mask;
}

// A query that sees no key gives 0 and infinity, and nothing depends on its scores.
TensorList attention_of_primitives(const TensorList& in, const AttentionAttrs& attrs) {
  const Tensor all = scores_of(in[kQ], in[kK], in.size() > kMask ? in[kMask] : Tensor(), attrs);
  const Tensor sees = reduce_max(all, {.axes = -1, .keep_dims = true}) > kUnseen, s = where(sees, all, 0.0);
  return {matmul(where(sees, softmax(s), 0.0), in[kV]),
          where(squeeze(sees, {-1}), logsumexp(s, {.axes = -1}), -kUnseen)};
}

// p = exp(s - lse), ds = p (dy v^T - sum(dy y)): dq = scale ds k, dk = scale ds^T q, dv = p^T dy
TensorList attention_grad_of_primitives(const TensorList& in, const AttentionAttrs& attrs) {
  const Tensor q = in[kQ], k = in[kK], v = in[kV], dy = in[grad::kDy];
  const Tensor s = scores_of(q, k, in.size() > grad::kMask ? in[grad::kMask] : Tensor(), attrs);
  const Tensor p = exp(s - expand_dims(in[grad::kLse], -1));
  const Tensor dot = reduce_sum(dy * in[grad::kY], {.axes = -1, .keep_dims = true});
  const Tensor ds = scaled(p * (matmul(dy, v, {.transpose_b = true}) - dot), q, attrs);
  return {matmul(ds, k), matmul(ds, q, {.transpose_a = true}), matmul(p, dy, {.transpose_a = true})};
}

// The gradient of lse is needed by second derivatives only; that of a mask is as large as all scores. Both go through
// scores as a tensor.
TensorList attention_gradient(const GradContext& c) {
  const auto& attrs = c.attrs<AttentionAttrs>();
  const bool has_mask = c.inputs.size() > kMask;
  const bool needs_scores = has_mask && c.needed[kMask] && c.input(kMask).dtype() != boolean;
  if (needs_scores || !c.grad(1).is_null())
    return internal::gradient_of_primitives(c,
                                            [&](const TensorList& in) { return attention_of_primitives(in, attrs); });
  std::vector<Operand> in{c.input(kQ), c.input(kK), c.input(kV), c.output(0), c.output(1), c.grad(0)};
  if (has_mask) in.emplace_back(c.input(kMask));
  std::vector<Tensor> result(c.inputs.size());
  const Operation op = add_operation(op_scaled_dot_product_attention_grad, in, Attrs(attrs), "attention_grad");
  for (int i = 0; i < 3; ++i) result[static_cast<size_t>(i)] = Tensor(op, i);
  return result;
}

TensorList attention_grad_gradient(const GradContext& c) {
  return internal::gradient_of_primitives(
      c, [&](const TensorList& in) { return attention_grad_of_primitives(in, c.attrs<AttentionAttrs>()); });
}

// Two products of all queries and keys forward, five backward.
Cost attention_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  const Shape &q = in[kQ].shape, &v = in[kV].shape;
  const double scores = static_cast<double>(q.num_elements(0, q.rank() - 1)) * static_cast<double>(v[-2]);
  const double products = out.size() > 2 ? 5 : 2, seen = attrs.get<AttentionAttrs>().causal ? 0.5 : 1;
  double bytes = 0;
  for (auto list : {in, out})
    for (const TensorSpec& t : list)
      bytes += static_cast<double>(t.shape.num_elements()) * static_cast<double>(size_of(t.dtype));
  return {.flops = seen * scores * (products * static_cast<double>(q[-1] + v[-1]) + 20), .bytes = bytes};
}

}  // namespace

constinit const OpDef op_scaled_dot_product_attention = {
    .name = "scaled_dot_product_attention",
    .doc = "y = softmax(scale q k^T + mask) v; lse = log(sum(exp(scale q k^T + mask)))",
    .inputs = {"q", "k", "v", "mask..."},
    .outputs = {"y", "lse"},
    .attrs = &attrs_type<AttentionAttrs>,
    .shape = attention_shape,
    .gradient = attention_gradient,
    .cpu = attention_cpu,
    .cost = attention_cost,
    .family = "Sequences",
};

constinit const OpDef op_scaled_dot_product_attention_grad = {
    .name = "scaled_dot_product_attention_grad",
    .doc = "dq, dk and dv of scaled_dot_product_attention",
    .inputs = {"q", "k", "v", "y", "lse", "dy", "mask..."},
    .outputs = {"dq", "dk", "dv"},
    .attrs = &attrs_type<AttentionAttrs>,
    .shape = attention_grad_shape,
    .gradient = attention_grad_gradient,
    .cpu = attention_grad_cpu,
    .cost = attention_cost,
    .family = "Sequences",
};

Tensor scaled_dot_product_attention(Operand q, Operand k, Operand v, AttentionAttrs attrs, Name name) {
  return add_op(op_scaled_dot_product_attention, {q, k, v}, attrs, name);
}
Tensor scaled_dot_product_attention(Operand q, Operand k, Operand v, Tensor mask, AttentionAttrs attrs, Name name) {
  return add_op(op_scaled_dot_product_attention, {q, k, v, {mask, q.line()}}, attrs, name);
}

}  // namespace martello
