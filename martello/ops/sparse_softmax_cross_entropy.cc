#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>

namespace martello {

Kernel sparse_softmax_cross_entropy_cpu(const KernelPlan&);
Kernel sparse_softmax_cross_entropy_grad_cpu(const KernelPlan&);

namespace internal {

void check_labels(const ShapeContext& c, size_t logits, size_t label) {
  const Shape& x = c.in[logits].shape;
  MARTELLO_CHECK(x.rank() >= 1, c.where(), input_name(c, logits), " ", x, " has no axis of classes.");
  check_index_dtype(c, label);
  const std::string asks = str(input_name(c, logits), " ", x, " without its classes");
  check_same_shape(c, input_name(c, label).c_str(), c.in[label].shape, asks.c_str(), x.slice(0, x.rank() - 1));
}

}  // namespace internal

namespace {

std::vector<TensorSpec> loss_shape(const ShapeContext& c) {
  c.check_floating(0);
  internal::check_labels(c, 0, 1);
  const TensorSpec& x = c.in[0];
  return {{.shape = internal::more_known(x.shape.slice(0, x.shape.rank() - 1), c.in[1].shape), .dtype = x.dtype},
          {.shape = x.shape, .dtype = x.dtype}};
}

// dlogits = (prob - onehot(label)) dloss + prob (dprob - sum(dprob prob))
TensorList loss_gradient(const GradContext& c) {
  const Tensor prob = c.output(1), dloss = c.grad(0), dprob = c.grad(1);
  Tensor dlogits;
  if (!dloss.is_null()) dlogits = sparse_softmax_cross_entropy_grad(prob, c.input(1), dloss);
  if (!dprob.is_null()) {
    const Tensor through_prob = prob * (dprob - reduce_sum(dprob * prob, {.axes = -1, .keep_dims = true}));
    dlogits = dlogits.is_null() ? through_prob : dlogits + through_prob;
  }
  return {dlogits, Tensor()};
}

std::vector<TensorSpec> grad_shape(const ShapeContext& c) {
  c.check_floating(0);
  c.check_same_dtype(2, 0);
  internal::check_labels(c, 0, 1);
  internal::check_same_shape(c, "label", c.in[1].shape, "dloss", c.in[2].shape);
  return {{.shape = c.in[0].shape, .dtype = c.in[0].dtype}};
}

// y = (prob - onehot(label)) dloss:  dprob = dy dloss,  ddloss = sum(dy (prob - onehot(label)))
TensorList grad_gradient(const GradContext& c) {
  const Tensor prob = c.input(0), dloss = c.input(2), dy = c.grad(0);
  const Tensor per_class = sparse_softmax_cross_entropy_grad(prob, c.input(1), ones_like(dloss));
  return {dy * expand_dims(dloss, -1), Tensor(), reduce_sum(dy * per_class, {.axes = -1})};
}

Cost loss_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  const double n = static_cast<double>(in[0].shape.num_elements());
  return {.flops = 20 * n, .bytes = 2 * n * static_cast<double>(size_of(in[0].dtype))};
}

// Dimension 0 of a vector counts classes, not rows.
Rows labelled_rows(const ShapeContext& c, size_t) { return internal::same_if(c.in[0].shape.rank() > 1); }

}  // namespace

constinit const OpDef op_sparse_softmax_cross_entropy = {
    .name = "sparse_softmax_cross_entropy",
    .doc = "loss = -log(softmax(logits)[label]) along the last axis; prob = softmax(logits)",
    .inputs = {"logits", "label"},
    .outputs = {"loss", "prob"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = loss_shape,
    .gradient = loss_gradient,
    .cpu = sparse_softmax_cross_entropy_cpu,
    .rows_of = labelled_rows,
    .cost = loss_cost,
    .family = "Softmax and losses",
};

constinit const OpDef op_sparse_softmax_cross_entropy_grad = {
    .name = "sparse_softmax_cross_entropy_grad",
    .doc = "dlogits = (prob - onehot(label)) * dloss",
    .inputs = {"prob", "label", "dloss"},
    .outputs = {"dlogits"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = grad_shape,
    .gradient = grad_gradient,
    .cpu = sparse_softmax_cross_entropy_grad_cpu,
    .in_place = {{{0, 0}}},
    .rows_of = labelled_rows,
    .cost = elementwise_cost,
    .family = "Softmax and losses",
};

Tensor sparse_softmax_cross_entropy(Operand logits, Operand label, Name name) {
  return add_op(op_sparse_softmax_cross_entropy, {logits, label}, name);
}
Tensor sparse_softmax_cross_entropy_grad(Operand prob, Operand label, Operand dloss, Name name) {
  return add_op(op_sparse_softmax_cross_entropy_grad, {prob, label, dloss}, name);
}

}  // namespace martello
