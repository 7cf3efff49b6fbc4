#include <martello/ops/broadcast.h>
#include <martello/ops/fused.h>
#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/internal/fused_body.h>

#include <numeric>

namespace martello {
namespace {

static_assert(kMaxFusedNodes <= cpu::kMaxElementwiseInstrs && kMaxFusedInputs <= cpu::kMaxElementwiseInputs &&
              kMaxFusedOutputs <= cpu::kMaxElementwiseOutputs);

std::optional<cpu::Reduction> reduction_of(const FusedAttrs& attrs, int rank) {
  using Kind = cpu::Reduction::Kind;
  constexpr Kind kinds[] = {Kind::sum, Kind::sum, Kind::mean, Kind::max, Kind::min, Kind::prod};
  if (attrs.reduction == FusedReduction::none) return std::nullopt;
  cpu::Reduction reduction{.kind = kinds[static_cast<int>(attrs.reduction)], .keep_dims = attrs.keep_dims};
  const std::vector<bool> marked = internal::marked_axes(attrs.axes, rank);
  for (int axis = 0; axis < rank; ++axis)
    if (marked[static_cast<size_t>(axis)]) reduction.axes.push_back(axis);
  return reduction;
}

}  // namespace

Kernel fused_cpu(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<FusedAttrs>();
  const Shape computed = broadcast_shapes({.op = plan.op, .in = plan.in, .attributes = plan.attributes});
  return program_kernel(plan, internal::body_program(attrs.body), computed, reduction_of(attrs, computed.rank()));
}

}  // namespace martello
