#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct AttentionAttrs {
  bool causal = false;  // query i sees keys 0 ... i only
  double scale = 0;     // of scores; 0: 1 / sqrt(width of q)
  bool operator==(const AttentionAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("causal", self.causal);
    f("scale", self.scale);
  }
};
// y = softmax(scale q k^T) v over the last two dimensions: q [..., queries, width], k [..., keys, width],
// v [..., keys, values]. Dimensions before them (batch, heads) agree. Scores are never kept: memory is linear in the
// sequence, and the gradient computes them again.
// A `mask` broadcasts to [..., queries, keys], its last dimension being the keys: of bool, true where a query sees a
// key; else added to scores. A gradient of the mask, where one is asked for, does keep scores. A query that sees
// nothing gives 0.
Tensor scaled_dot_product_attention(Operand q, Operand k, Operand v, AttentionAttrs attrs = {},
                                    Name name = "attention");
Tensor scaled_dot_product_attention(Operand q, Operand k, Operand v, Tensor mask, AttentionAttrs attrs = {},
                                    Name name = "attention");
extern const OpDef op_scaled_dot_product_attention;

// dq, dk and dv from y and the logarithms of the sums of exponentials, outputs of the op above.
extern const OpDef op_scaled_dot_product_attention_grad;

}  // namespace martello
