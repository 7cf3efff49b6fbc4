#pragma once
#include <martello/optim/fused_optimizer.h>

// The optimizers. A learning rate is a number, a scalar Tensor (see schedules.h) or a variable (get_scalar_var). g is
// the gradient, w the variable; slots start from zero unless said otherwise.
namespace martello {

// w -= rate g. A gradient that touches some rows of a table only (gather, embedding_lookup) changes these rows.
class GradientDescent : public FusedOptimizer {
 public:
  explicit GradientDescent(Operand learning_rate);
};
using SGD = GradientDescent;

struct MomentumOptions {
  double momentum = 0.9;
  bool nesterov = false;
  bool lazy = false;  // rows of a table that have no gradient in a step keep their momentum, and stay
};
// m = momentum m + g;  w -= rate m   (Nesterov: w -= rate (g + momentum m)).
class Momentum : public FusedOptimizer {
 public:
  explicit Momentum(Operand learning_rate, MomentumOptions options = {});
};

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool lazy = false;  // rows of a table that have no gradient in a step keep m and v, and stay
};
// m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
// w -= rate sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon), the paper's efficient form, as TensorFlow's.
class Adam : public FusedOptimizer {
 public:
  explicit Adam(Operand learning_rate, AdamOptions options = {});
};

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0.01;
  std::string no_decay = {};  // see WeightDecay
  std::function<bool(const Variable& v)> decays = {};
};
// w *= 1 - rate weight_decay, then Adam with epsilon added to sqrt(v / (1 - beta2^t)), as PyTorch's.
class AdamW : public FusedOptimizer {
 public:
  explicit AdamW(Operand learning_rate, AdamWOptions options = {});
};

struct RMSPropOptions {
  double decay = 0.9, momentum = 0, epsilon = 1e-10;
  bool centered = false;  // divides by the deviation of g, not by its root mean square
};
// v = decay v + (1 - decay) g^2, from 1;  m = momentum m + rate g / sqrt(v + epsilon);  w -= m.
class RMSProp : public FusedOptimizer {
 public:
  explicit RMSProp(Operand learning_rate, RMSPropOptions options = {});
};

struct AdagradOptions {
  double initial_accumulator = 0.1, epsilon = 0;  // not both 0
};
// a += g^2;  w -= rate g / (sqrt(a) + epsilon). Rows of a table without gradient stay as they are, which is exact.
class Adagrad : public FusedOptimizer {
 public:
  explicit Adagrad(Operand learning_rate, AdagradOptions options = {});
};

struct AdadeltaOptions {
  double rho = 0.95, epsilon = 1e-8;
};
// a = rho a + (1 - rho) g^2;  u = sqrt(d + epsilon) / sqrt(a + epsilon) g;  d = rho d + (1 - rho) u^2;  w -= rate u.
class Adadelta : public FusedOptimizer {
 public:
  explicit Adadelta(Operand learning_rate, AdadeltaOptions options = {});
};

struct LambOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
  double weight_decay = 0.01;
  std::string no_decay = {};
  std::function<bool(const Variable& v)> decays = {};
};
// r = AdamW's step without its rate + weight_decay w;  w -= rate |w| / |r| r, with norms over each variable, and a
// ratio of 1 where one of them is 0.
class Lamb : public FusedOptimizer {
 public:
  explicit Lamb(Operand learning_rate, LambOptions options = {});
};

struct LionOptions {
  double beta1 = 0.9, beta2 = 0.99;
  double weight_decay = 0;
  std::string no_decay = {};
  std::function<bool(const Variable& v)> decays = {};
};
// w *= 1 - rate weight_decay;  w -= rate sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g.
class Lion : public FusedOptimizer {
 public:
  explicit Lion(Operand learning_rate, LionOptions options = {});
};

}  // namespace martello
