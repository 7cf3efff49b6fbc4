#pragma once
#include <martello/graph/op_def.h>

#include <string>
#include <vector>

namespace martello {

enum class LinearActivation { none, relu };
std::vector<std::string> enum_names(LinearActivation);

struct LinearAttrs {
  bool transpose_x = false;
  bool transpose_w = false;
  LinearActivation activation = LinearActivation::none;
  bool widen = false;  // x and w are bf16; b, sums and y f32
  bool operator==(const LinearAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("transpose_x", self.transpose_x);
    f("transpose_w", self.transpose_w);
    f("activation", self.activation);
    f("widen", self.widen);
  }
};
// y = activation(matmul(x, w) + b), b one number per column: the same bits as the three ops, in one pass. The fuse pass
// makes it; models may too.
Tensor linear(Operand x, Operand w, Operand b, LinearAttrs attrs = {}, Name name = "linear");
Tensor linear(Operand x, Operand w, Operand b, Name name);
extern const OpDef op_linear;

}  // namespace martello
