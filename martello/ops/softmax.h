#pragma once
#include <martello/ops/reduce.h>

namespace martello {

struct SoftmaxAttrs {
  int axis = -1;
  bool operator==(const SoftmaxAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axis", self.axis); }
};

// y = exp(x) / sum(exp(x)) along `axis`, without overflow. Only -inf along the axis, or a NaN or inf in it, gives NaN.
Tensor softmax(Operand x, SoftmaxAttrs attrs = {}, Name name = "softmax");
Tensor softmax(Operand x, Name name);
extern const OpDef op_softmax;

// y = x - log(sum(exp(x))) along `axis`, without overflow.
Tensor log_softmax(Operand x, SoftmaxAttrs attrs = {}, Name name = "log_softmax");
Tensor log_softmax(Operand x, Name name);
extern const OpDef op_log_softmax;

// y = log(sum(exp(x))) along `axes`, without overflow. Only -inf (or nothing) along the axes gives -inf.
Tensor logsumexp(Operand x, ReduceAttrs attrs = {}, Name name = "logsumexp");
Tensor logsumexp(Operand x, Name name);
extern const OpDef op_logsumexp;

}  // namespace martello
