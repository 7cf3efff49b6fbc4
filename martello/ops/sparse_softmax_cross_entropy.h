#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// loss = -log(softmax(logits)[label]) along the last axis: logits [..., classes], label [...] i32 or i64, loss [...]. A
// label outside of [0, classes) is an error of the run.
Tensor sparse_softmax_cross_entropy(Operand logits, Operand label, Name name = "cross_entropy");
extern const OpDef op_sparse_softmax_cross_entropy;

// dlogits = (prob - onehot(label)) * dloss.
Tensor sparse_softmax_cross_entropy_grad(Operand prob, Operand label, Operand dloss, Name name = "cross_entropy_grad");
extern const OpDef op_sparse_softmax_cross_entropy_grad;

namespace internal {
// Throws unless input `label` is an i32 or i64 tensor with the shape of input `logits` without the last axis.
void check_labels(const ShapeContext& c, size_t logits, size_t label);
}  // namespace internal

}  // namespace martello
