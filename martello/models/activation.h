#pragma once
#include <martello/graph/tensor.h>

#include <functional>
#include <type_traits>

namespace martello {

// What runs after a layer: an op (mt::relu), a lambda, or nothing. mt::identity says "none" where an ArgScope set one.
class Activation {
 public:
  using Function = Tensor (*)(Tensor);

  Activation() = default;
  Activation(Tensor (*op)(Operand, Name));
  Activation(Function layer);
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, Tensor> Activation(F f) : function_(std::move(f)) {}

  Tensor operator()(Tensor x) const { return function_ ? function_(x) : x; }

 private:
  std::function<Tensor(Tensor)> function_;
};

}  // namespace martello
