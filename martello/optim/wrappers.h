#pragma once
#include <martello/optim/optimizer.h>

#include <functional>

// Optimizers around optimizers.
namespace martello {

// Hands everything on; a base for others.
class ProxyOptimizer : public Optimizer {
 public:
  explicit ProxyOptimizer(Ref<Optimizer> optimizer);
  GradVars compute_gradients(Tensor cost, const std::vector<Variable>& vars) override;
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;

 private:
  Ref<Optimizer> optimizer_;
};

// After the update runs f(v) for each variable given to it; v reads as the new value. A null Operation does nothing.
class PostProcessOptimizer : public ProxyOptimizer {
 public:
  using Function = std::function<Operation(Variable v)>;
  PostProcessOptimizer(Ref<Optimizer> optimizer, Function f);
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;

 private:
  Function function_;
};

// After the update assigns f(v) to each variable given to it; v reads as the new value. A null Tensor leaves it.
//   VariableAssignmentOptimizer(Adam(1e-3), [](Variable v) { return maximum(v, 0); })
class VariableAssignmentOptimizer : public ProxyOptimizer {
 public:
  using Function = std::function<Tensor(Variable v)>;
  VariableAssignmentOptimizer(Ref<Optimizer> optimizer, Function f);
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;

 private:
  Function function_;
};

// A run in which a gradient has a NaN or an infinity writes nothing: variables, slots, counters stay as they are. One
// read of the gradients. Session::skipped_runs() and PreparedRun::was_skipped() tell; the log names the first op that
// gave such a value (SessionOptions::explained_skips). Outside AccumGradOptimizer and gradient processors it looks at
// what they are given, inside at what they give.
class SkipNonFinite : public ProxyOptimizer {
 public:
  using ProxyOptimizer::ProxyOptimizer;
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;
};

}  // namespace martello
