#pragma once
#include <martello/graph/op_def.h>

// Activations. One signature for all (leaky_relu has a slope beside it); floating dtypes (f32, f64).
namespace martello {

struct LeakyReluAttrs {
  double alpha = 0.2;
  bool operator==(const LeakyReluAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("alpha", self.alpha); }
};
extern const OpDef op_relu, op_relu_grad, op_relu6, op_leaky_relu, op_leaky_relu_grad, op_elu, op_selu, op_sigmoid,
    op_tanh, op_softplus, op_silu, op_gelu, op_gelu_tanh;

// max(x, 0).
Tensor relu(Operand x, Name name = "relu");
// min(max(x, 0), 6).
Tensor relu6(Operand x, Name name = "relu6");
// x where x > 0, else alpha * x.
Tensor leaky_relu(Operand x, double alpha = 0.2, Name name = "leaky_relu");
// x where x > 0, else exp(x) - 1.
Tensor elu(Operand x, Name name = "elu");
// elu with the constants that keep mean 0 and variance 1.
Tensor selu(Operand x, Name name = "selu");
// 1 / (1 + exp(-x)).
Tensor sigmoid(Operand x, Name name = "sigmoid");
Tensor tanh(Operand x, Name name = "tanh");
// log(1 + exp(x)).
Tensor softplus(Operand x, Name name = "softplus");
// x * sigmoid(x).
Tensor silu(Operand x, Name name = "silu");
// x times the normal distribution function, exact, and its approximation by tanh.
Tensor gelu(Operand x, Name name = "gelu");
Tensor gelu_tanh(Operand x, Name name = "gelu_tanh");

// dy where y > 0, else 0: the gradient of relu by its output.
Tensor relu_grad(Operand y, Operand dy, Name name = "relu_grad");
// dy where x > 0, else alpha * dy.
Tensor leaky_relu_grad(Operand x, Operand dy, double alpha = 0.2, Name name = "leaky_relu_grad");

}  // namespace martello
