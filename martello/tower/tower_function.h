#pragma once
#include <martello/graph/tensor.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace martello {

// What builds one copy of a model: a function of a list of tensors, or of one tensor per input. R is Tensor (the cost),
// or Costs for several.
//   [](Tensor image, Tensor label) { return reduce_mean(...); }
template <class R>
class TowerFunction {
 public:
  TowerFunction() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, TowerFunction>) TowerFunction(F f) { bind<F>(std::move(f)); }

  R operator()(const TensorList& in) const { return f_(in); }
  int arity() const { return arity_; }  // -1: takes a list
  explicit operator bool() const { return static_cast<bool>(f_); }

 private:
  static constexpr size_t kMostParameters = 12;

  template <class F, size_t... I>
  static constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_r_v<R, F&, decltype((void)I, Tensor())...>;
  }
  template <class F, size_t N = 1>
  void bind(F f) {
    if constexpr (std::is_invocable_r_v<R, F&, TensorList>) {
      f_ = std::move(f);
    } else if constexpr (N > kMostParameters) {
      static_assert(sizeof(F) == 0, "a tower function takes TensorList, or one Tensor per input, and returns the cost");
    } else if constexpr (takes<F>(std::make_index_sequence<N>())) {
      arity_ = static_cast<int>(N);
      f_ = [g = std::move(f)](const TensorList& in) mutable { return std::apply(g, in.unpack<N>()); };
    } else {
      bind<F, N + 1>(std::move(f));
    }
  }

  std::function<R(const TensorList&)> f_;
  int arity_ = -1;
};
using CostFn = TowerFunction<Tensor>;

}  // namespace martello
