#pragma once
#include <martello/ops/variable.h>

#include <functional>
#include <memory>
#include <utility>

// What happens to variables that layers ask for in a block.
namespace martello {

struct FreezeOptions {
  bool stop_gradient = true;     // uses inside the block pass no gradient; weight decay by name still does
  bool skip_collection = false;  // variables made inside the block are not trainable, but saved as part of the model
};
//   FreezeVariables frozen;  auto features = backbone(image);
class FreezeVariables {
 public:
  [[nodiscard]] explicit FreezeVariables(FreezeOptions options = {});

 private:
  VariableGetterScope scope_;
};

// Trainable variables of the block are read through `f`, for quantization and the like.
//   RemapVariables binary([](Variable v) { return sign(v); });
class RemapVariables {
 public:
  [[nodiscard]] explicit RemapVariables(std::function<Tensor(Variable)> f);

 private:
  VariableGetterScope scope_;
};

namespace internal {
class ReuseCalls {
 public:
  ReuseCalls();
  bool is_first();  // in the current graph, bodies included, and variable scope; copies count together

 private:
  struct Seen;
  std::shared_ptr<Seen> seen_;
};
}  // namespace internal

// A function whose first call in a variable scope makes variables; later ones there share them.
//   auto discriminator = auto_reuse([](Tensor x) { return mt::fully_connected("fc", x, {.units = 1}); });
template <class F>
auto auto_reuse(F f) {
  return [f = std::move(f), calls = internal::ReuseCalls()](auto&&... args) mutable {
    VariableScope scope("", calls.is_first() ? Reuse::inherit : Reuse::yes);
    return f(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace martello
