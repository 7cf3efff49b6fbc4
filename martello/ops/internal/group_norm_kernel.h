#pragma once
#include <martello/graph/kernel.h>
#include <martello/ops/internal/channel_pass.h>

namespace martello::internal {

// Each segment of x normalized by groups of channels.
struct GroupView {
  ChannelView view = {};
  int64_t segments_per_row = 1;  // of dimension 0; 0 when segments are not counted by it
  int64_t groups = 1;
  double epsilon = 0;
};
// x, gamma, beta -> y, mean, variance [segments, groups]
Kernel group_norm_kernel(DType dtype, const GroupView& groups);
// x, gamma, mean, variance, dy -> dx, dgamma, dbeta
Kernel group_norm_grad_kernel(DType dtype, const GroupView& groups);

}  // namespace martello::internal
