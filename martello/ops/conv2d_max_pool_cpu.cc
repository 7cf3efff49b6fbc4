#include <martello/base/error.h>
#include <martello/ops/conv2d_max_pool.h>
#include <martello/ops/internal/conv_direct.h>

namespace martello {

Kernel conv2d_max_pool_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<ConvPoolAttrs>();
  const internal::ConvProblem conv(plan.op.where(), plan.in[0], plan.in[1].shape, a.conv);
  MARTELLO_CHECK(internal::is_for_direct(conv, internal::ConvDirection::forward) && a.pool.data_format == conv.format,
                 plan.op.where(), "has no loops for images ", plan.in[0].str(), " and a kernel ", plan.in[1].shape,
                 ". Use conv2d() and max_pool().");
  const auto pool = internal::pool_axes(plan.op.where(), a.pool, conv.axes[0].out, conv.axes[1].out);
  return internal::direct_pool_kernel(plan, conv, internal::conv2d_task(plan.in, a.activation), pool);
}

}  // namespace martello
