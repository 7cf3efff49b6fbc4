#include <martello/base/error.h>
#include <martello/ops/internal/broadcast_loop.h>

namespace martello {
namespace {

// Elements between neighbours of `x` along dimension `d` of an output of `rank`; 0 where x is broadcast.
int64_t stride_of(const Shape& x, int d, int rank) {
  const int own = d - (rank - x.rank());
  if (own < 0 || x[own] == 1) return 0;
  return x.num_elements(own + 1, x.rank());
}

}  // namespace

BroadcastLoop::BroadcastLoop(const KernelPlan& plan) {
  MARTELLO_ASSERT(plan.in.size() <= kMaxInputs, plan.op.where(), "has ", plan.in.size(), " inputs, the loop takes ",
                  kMaxInputs);
  const Shape& y = plan.out[0].shape;
  const int rank = y.rank();
  for (int d = rank - 1; d >= 0; --d) {
    Dim dim{.size = y[d]};
    for (size_t i = 0; i < plan.in.size(); ++i) dim.strides[i] = stride_of(plan.in[i].shape, d, rank);
    if (dim.size != 1) add_dim(dim);
  }
  if (dims_.empty()) dims_.push_back({.strides = {1, 1, 1}});
  dims_.back().size = kEndless;
}

void BroadcastLoop::add_dim(const Dim& dim) {
  const auto continues = [&](size_t i) { return dim.strides[i] == dims_.back().strides[i] * dims_.back().size; };
  if (!dims_.empty() && continues(0) && continues(1) && continues(2)) {
    dims_.back().size *= dim.size;
  } else {
    dims_.push_back(dim);
  }
}

BroadcastLoop::Offsets BroadcastLoop::offsets_of(int64_t element) const {
  Offsets offsets = {};
  for (const Dim& dim : dims_) {
    const int64_t index = element % dim.size;
    for (size_t i = 0; i < kMaxInputs; ++i) offsets[i] += index * dim.strides[i];
    element /= dim.size;
  }
  return offsets;
}

}  // namespace martello
