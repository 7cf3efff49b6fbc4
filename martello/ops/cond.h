#pragma once
#include <martello/graph/op_def.h>
#include <martello/graph/subgraph.h>

#include <concepts>
#include <functional>

namespace martello {

// What `then_fn` builds when the scalar `pred` is true in a run, else what `else_fn` builds: only that branch runs.
// Both give the same number of tensors, of the same dtypes and shapes, and may use any tensor of the graph around them.
// What prints or asserts in a branch does so when the branch runs. Variables cannot be written inside.
//   Tensor y = cond(x > 0, [&] { return log(x); }, [&] { return x * 2; });
TensorList cond(Operand pred, const std::function<TensorList()>& then_fn, const std::function<TensorList()>& else_fn,
                Name name = "cond");
template <class Then, class Else>
requires(std::convertible_to<std::invoke_result_t<const Then&>, Tensor>&&
             std::convertible_to<std::invoke_result_t<const Else&>, Tensor>) Tensor
    cond(Operand pred, const Then& then_fn, const Else& else_fn, Name name = "cond") {
  return cond(pred, std::function<TensorList()>([&] { return TensorList(Tensor(then_fn())); }),
              std::function<TensorList()>([&] { return TensorList(Tensor(else_fn())); }), name)[0];
}

struct CondAttrs {
  Subgraph then_body, else_body;
  int64_t then_inputs = 0;  // inputs of the op: pred, those of then_body, those of else_body
  bool operator==(const CondAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("then_body", self.then_body);
    f("else_body", self.else_body);
    f("then_inputs", self.then_inputs);
  }
};
extern const OpDef op_cond;

}  // namespace martello
