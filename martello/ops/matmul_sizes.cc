#include <martello/base/checked.h>
#include <martello/ops/internal/matmul_plan.h>

namespace martello::internal {
namespace {

// Dimension i of y as a dimension of `shape`, which has fewer or as many: 1 where it has none.
int64_t aligned_dim(const Shape& shape, int i, int rank) {
  const int own = i - (rank - shape.rank());
  return own >= 0 ? shape[own] : 1;
}

// One walk goes on where the other ends: the two dimensions are one.
bool continues(int64_t inner, int64_t outer, int64_t inner_size) { return outer == inner * inner_size; }

}  // namespace

MatmulSizes::MatmulSizes(const KernelPlan& plan, const MatmulFlags& flags) {
  const Shape &a = plan.in[0].shape, &b = plan.in[1].shape, &y = plan.out[0].shape;
  m = y[-2];
  n = y[-1];
  k = a[flags.transpose_a ? -2 : -1];
  int64_t step_a = checked_mul(m, k), step_b = checked_mul(k, n);
  std::vector<BatchDim> inner_first;
  for (int i = y.rank() - 3; i >= 0; --i) {
    const int64_t size = y[i], size_a = aligned_dim(a, i, y.rank()), size_b = aligned_dim(b, i, y.rank());
    const BatchDim dim{size, size_a == 1 ? 0 : step_a, size_b == 1 ? 0 : step_b};
    step_a *= size_a;
    step_b *= size_b;
    batches = checked_mul(batches, size);
    if (size == 1) continue;
    BatchDim* last = inner_first.empty() ? nullptr : &inner_first.back();
    if (last && continues(last->a, dim.a, last->size) && continues(last->b, dim.b, last->size)) last->size *= size;
    else inner_first.push_back(dim);
  }
  const bool folds = !inner_first.empty() && inner_first[0].b == 0 && inner_first[0].a != 0 && !flags.transpose_a;
  if (folds && batches > 0) {
    m *= inner_first[0].size;
    batches /= inner_first[0].size;
    inner_first.erase(inner_first.begin());
  }
  batch.assign(inner_first.rbegin(), inner_first.rend());
}

double MatmulSizes::multiplications() const {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batches);
}

bool is_large_matrix(int64_t rows, int64_t columns) {
  constexpr int64_t kNarrow = 128, kLarge = 1 << 17;
  return rows >= kNarrow && columns >= kNarrow && rows >= ceil_div(kLarge, columns);
}

MatmulSizes::Offsets MatmulSizes::offsets(int64_t i) const {
  Offsets at{0, 0, i * m * n};
  for (size_t d = batch.size(); d-- > 0;) {
    const int64_t index = i % batch[d].size;
    i /= batch[d].size;
    at.a += index * batch[d].a;
    at.b += index * batch[d].b;
  }
  return at;
}

}  // namespace martello::internal
