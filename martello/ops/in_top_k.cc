#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/in_top_k.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>

namespace martello {

Kernel in_top_k_cpu(const KernelPlan&);
Kernel prediction_incorrect_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> per_row(const ShapeContext& c, DType dtype) {
  c.check_floating(0);
  internal::check_labels(c, 0, 1);
  const Shape& x = c.in[0].shape;
  return {{.shape = internal::more_known(x.slice(0, x.rank() - 1), c.in[1].shape), .dtype = dtype}};
}

std::vector<TensorSpec> in_top_k_shape(const ShapeContext& c) {
  const int64_t k = c.attrs<TopKAttrs>().k;
  MARTELLO_CHECK(k >= 1, c.where(), "k is ", k, "; it must be 1 or more.");
  return per_row(c, boolean);
}

// Dimension 0 of a vector counts classes, not rows.
Rows labelled_rows(const ShapeContext& c, size_t) { return internal::same_if(c.in[0].shape.rank() > 1); }

}  // namespace

constinit const OpDef op_in_top_k = {
    .name = "in_top_k",
    .doc = "y = whether fewer than k of logits[..., :] are larger than logits[..., target]",
    .inputs = {"logits", "targets"},
    .outputs = {"y"},
    .attrs = &attrs_type<TopKAttrs>,
    .shape = in_top_k_shape,
    .gradient = not_differentiable,
    .cpu = in_top_k_cpu,
    .rows_of = labelled_rows,
    .cost = elementwise_cost,
    .family = "Metrics",
};

constinit const OpDef op_prediction_incorrect = {
    .name = "prediction_incorrect",
    .doc = "y = 1 where argmax(logits) is not the label, else 0",
    .inputs = {"logits", "label"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = [](const ShapeContext& c) { return per_row(c, f32); },
    .gradient = not_differentiable,
    .cpu = prediction_incorrect_cpu,
    .rows_of = labelled_rows,
    .cost = elementwise_cost,
    .family = "Metrics",
};

Tensor in_top_k(Operand logits, Operand targets, int64_t k, Name name) {
  return add_op(op_in_top_k, {logits, targets}, TopKAttrs{k}, name);
}
Tensor prediction_incorrect(Operand logits, Operand label, Name name) {
  return add_op(op_prediction_incorrect, {logits, label}, name);
}

}  // namespace martello
