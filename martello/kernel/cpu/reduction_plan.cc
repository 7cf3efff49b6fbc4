#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/kernel/cpu/reduce_order.h>
#include <martello/kernel/cpu/reduction_plan.h>

#include <algorithm>
#include <limits>

namespace martello::cpu {
namespace {

constexpr int64_t kChunkElements = 32768;

struct Group {
  bool reduced;
  Extent extent;
};

Extent product(std::span<const Group> groups, bool with_reduced) {
  Extent e;
  for (const Group& g : groups) {
    if (g.reduced && !with_reduced) continue;
    e.factor *= g.extent.factor;
    e.has_rows = e.has_rows || g.extent.has_rows;
  }
  return e;
}

std::vector<bool> reduced_axes(const Shape& shape, const std::vector<int>& axes) {
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), false);
  for (int axis : axes) {
    const int a = normalized_axis(axis, shape.rank());
    MARTELLO_CHECK(a >= 0, "[reduce] axis ", axis, " is out of range for ", shape, ".");
    MARTELLO_CHECK(!reduced[static_cast<size_t>(a)], "[reduce] axis ", axis, " of ", shape, " is named twice.");
    reduced[static_cast<size_t>(a)] = true;
  }
  return reduced;
}

// Neighbours that are both reduced or both kept become one. Dimension 0 stays, whatever its size: it may be 0 in a run.
std::vector<Group> grouped(const Shape& shape, const std::vector<bool>& reduced) {
  std::vector<Group> groups;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d > 0 && shape[d] == 1) continue;
    const bool is_reduced = reduced[static_cast<size_t>(d)];
    if (groups.empty() || groups.back().reduced != is_reduced) groups.push_back({is_reduced, {}});
    Extent& extent = groups.back().extent;
    if (d == 0) extent.has_rows = true;
    else extent.factor *= shape[d];
  }
  return groups;
}

int64_t largest_intermediate(const ReductionPlan& plan, const Shape& shape, DType dtype) {
  const int64_t rows = shape.rank() ? shape[0] : 1;
  int64_t most = 0;
  for (size_t p = 0; p < plan.passes.size(); ++p) {
    const ReductionPass& pass = plan.passes[p];
    const ReduceStep step =
        make_step(plan.step_kind(), pass.outer.at(rows), pass.reduced.at(rows), pass.inner.at(rows), dtype);
    const bool is_result = p + 1 == plan.passes.size() && step.blocks <= 1;
    if (!is_result) most = std::max(most, step.outer * std::max<int64_t>(step.blocks, 1) * step.inner);
  }
  return most;
}

// Long stretches read fastest; short ones are many where threads would have too few.
int64_t stretch_columns(int64_t blocks, int64_t inner, DType dtype) {
  constexpr int64_t kEnoughItems = 32, kFewColumnBytes = 4096;
  const int64_t most = kMostColumnBytes / size_of(dtype), few = kFewColumnBytes / size_of(dtype);
  return std::min(inner, blocks * ceil_div(inner, most) >= kEnoughItems ? most : few);
}

}  // namespace

ReduceKind ReductionPlan::step_kind() const {
  switch (kind) {
    case Reduction::Kind::max: return ReduceKind::max;
    case Reduction::Kind::min: return ReduceKind::min;
    case Reduction::Kind::prod: return ReduceKind::prod;
    case Reduction::Kind::sum:
    case Reduction::Kind::mean: break;
  }
  return ReduceKind::sum;
}

double ReductionPlan::of_nothing() const {
  constexpr double inf = std::numeric_limits<double>::infinity();
  switch (step_kind()) {
    case ReduceKind::max: return -inf;
    case ReduceKind::min: return inf;
    case ReduceKind::prod: return 1;
    case ReduceKind::sum: break;
  }
  return 0;
}

ReductionPlan make_reduction_plan(const Shape& shape, const Reduction& reduction, DType dtype) {
  const std::vector<bool> reduced = reduced_axes(shape, reduction.axes);
  const std::vector<Group> groups = grouped(shape, reduced);
  ReductionPlan plan;
  plan.kind = reduction.kind;
  for (size_t g = groups.size(); g-- > 0;) {
    if (!groups[g].reduced) continue;
    const std::span<const Group> all(groups);
    plan.passes.push_back({product(all.first(g), true), groups[g].extent, product(all.subspan(g + 1), false)});
    plan.count.factor *= groups[g].extent.factor;
    plan.count.has_rows = plan.count.has_rows || groups[g].extent.has_rows;
  }
  for (int d = 0; d < shape.rank(); ++d) {
    if (!reduced[static_cast<size_t>(d)]) plan.result.push_back(shape[d]);
    else if (reduction.keep_dims) plan.result.push_back(1);
  }
  plan.intermediate_elements = largest_intermediate(plan, shape, dtype);
  return plan;
}

ReduceStep make_step(ReduceKind kind, int64_t outer, int64_t reduced, int64_t inner, DType dtype) {
  const int64_t lanes = kLaneBytes / size_of(dtype);
  ReduceStep step;
  step.kind = kind;
  step.outer = outer;
  step.reduced = reduced;
  step.inner = inner;
  while (inner > 0 && step.merged * inner < lanes) step.merged *= 2;
  const int64_t block_rows = kBlockRows * step.merged;
  step.blocks = reduced > 0 ? std::max<int64_t>(reduced / block_rows, 1) : 0;
  step.columns = inner < lanes ? inner : stretch_columns(outer * step.blocks, inner, dtype);
  step.items = outer * step.blocks * (inner > 0 ? ceil_div(inner, step.columns) : 0);
  const int64_t item_elements = std::min(reduced, block_rows) * step.columns;
  step.items_per_chunk = align_up(ceil_div(kChunkElements, std::max<int64_t>(item_elements, 1)), inner == 1 ? 16 : 1);
  return step;
}

}  // namespace martello::cpu
