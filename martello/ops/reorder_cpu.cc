#include <martello/base/error.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/reorder_attrs.h>

namespace martello {

Kernel reorder_cpu(const KernelPlan& plan) {
  using onednn::Role, onednn::Side;
  const auto& a = plan.attrs<internal::ReorderAttrs>();
  const std::string where = str("[", plan.op.type, " '", plan.op.name, "'] ");
  internal::ConvProblem problem(where, {.shape = a.x, .dtype = a.widen ? bf16 : f32}, a.packing.kernel, a.conv);
  problem.is_narrow = a.narrow;
  const auto packed = internal::packed_kernel(plan.op, problem, a.direction, a.packing);
  const bool is_back = a.direction == internal::ConvDirection::grad_kernel;
  const DType plain = (is_back ? plan.out[0] : plan.in[0]).dtype;
  return onednn::make_kernel(internal::kernel_reorder(plan.op, problem, a.direction, plain, packed, plan.threads),
                             {{Role::from, Side::input, 0}, {Role::to, Side::output, 0}});
}

}  // namespace martello
