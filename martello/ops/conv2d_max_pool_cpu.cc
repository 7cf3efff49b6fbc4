#include <martello/base/error.h>
#include <martello/ops/conv2d_max_pool.h>
#include <martello/ops/internal/conv_direct.h>
#include <martello/ops/internal/conv_pool.h>
#include <martello/ops/internal/conv_winograd.h>

namespace martello {

const char* internal::find_pooling_loops(const ConvProblem& conv, const PoolAxes& windows) {
  if (is_for_direct(conv, ConvDirection::forward)) return kDirectName;
  return is_for_winograd(conv) && are_of_tiles(windows) ? kWinogradName : nullptr;
}

Kernel conv2d_max_pool_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<ConvPoolAttrs>();
  const internal::ConvProblem conv(plan.op.where(), plan.in[0], plan.in[1].shape, a.conv);
  const auto windows = internal::pool_axes(plan.op.where(), a.pool, conv.axes[0].out, conv.axes[1].out);
  const char* loops = a.pool.data_format == conv.format ? internal::find_pooling_loops(conv, windows) : nullptr;
  MARTELLO_CHECK(loops, plan.op.where(), "has no loops for images ", plan.in[0].str(), " and a kernel ",
                 plan.in[1].shape, ". Use conv2d() and max_pool().");
  const auto task = internal::conv2d_task(plan.in, a.activation);
  return loops == internal::kDirectName ? internal::direct_pool_kernel(plan, conv, task, windows)
                                        : internal::winograd_pool_kernel(plan, conv, task);
}

}  // namespace martello
