#include <martello/ops/internal/matmul_plan.h>
#include <martello/ops/linear.h>

namespace martello {

Kernel linear_cpu(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<LinearAttrs>();
  return internal::plan_matmul(plan, {.transpose_a = attrs.transpose_x,
                                      .transpose_b = attrs.transpose_w,
                                      .has_bias = true,
                                      .has_addend = plan.in.size() == 4,
                                      .relu = attrs.activation == LinearActivation::relu});
}

}  // namespace martello
