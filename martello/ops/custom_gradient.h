#pragma once
#include <martello/graph/op_def.h>

#include <functional>

namespace martello {

// A function with a gradient of its own: `forward` builds ys from xs, `gradient` gives d(xs) from d(ys), null where
// there is none. Gradients flow to xs only: a trainable variable that `forward` uses must be among them, or behind
// stop_gradient().
//   custom_gradient({x}, [](TensorList in) { return TensorList{round(in[0])}; }, [](TensorList dy) { return dy; });
TensorList custom_gradient(const TensorList& xs, const std::function<TensorList(TensorList)>& forward,
                           std::function<TensorList(TensorList)> gradient, Name name = "custom_gradient");

struct CustomGradientAttrs {
  int64_t outputs = 1;
  bool operator==(const CustomGradientAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("outputs", self.outputs); }
};
extern const OpDef op_custom_gradient;  // inputs: ys, then xs

}  // namespace martello
