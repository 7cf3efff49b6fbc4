#pragma once
#include <martello/optim/wrappers.h>

namespace martello {

struct AccumGradOptions {
  // What is applied: the mean over the samples of all calls, or the plain sum of their gradients (tensorpack), which
  // asks for a learning rate `niter` times smaller.
  enum class Combine { mean, sum };
  Combine combine = Combine::mean;
  // Samples of the batch of a call, a scalar, when batches differ in size; gradients are means over their batch. Not
  // given: all batches are alike.
  Tensor samples = {};
};

// Adds gradients up in slots `W/AccumGrad` and lets `optimizer` apply them in calls niter, 2 niter ...: a batch niter
// times as large. In other calls the optimizer writes nothing. The calls done are in `AccumGrad/counter`.
class AccumGradOptimizer : public ProxyOptimizer {
 public:
  AccumGradOptimizer(Ref<Optimizer> optimizer, int64_t niter, AccumGradOptions options = {});
  Operation apply_gradients(const GradVars& grads, Name name = Name("apply_gradients", SourceLine::current())) override;

 private:
  int64_t niter_;
  AccumGradOptions options_;
};

}  // namespace martello
