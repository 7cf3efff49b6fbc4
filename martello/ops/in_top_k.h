#pragma once
#include <martello/ops/top_k.h>

namespace martello {

// Whether logits[..., target] is among the k largest of its row: logits [..., classes], targets [...] i32 or i64. One
// that ties with the k-th counts; one that is not finite does not. A target outside of [0, classes) is an error.
Tensor in_top_k(Operand logits, Operand targets, int64_t k = 1, Name name = "in_top_k");
extern const OpDef op_in_top_k;

// 1 where argmax(logits) is not the label, else 0; f32. A label outside of [0, classes) is an error of the run.
Tensor prediction_incorrect(Operand logits, Operand label, Name name = "incorrect");
extern const OpDef op_prediction_incorrect;

}  // namespace martello
