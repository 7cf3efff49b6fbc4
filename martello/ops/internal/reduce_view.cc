#include <martello/base/checked.h>
#include <martello/ops/internal/reduce_view.h>

namespace martello::internal {

ReduceView::ReduceView(const Shape& shape, const std::vector<bool>& reduced) {
  const int rank = shape.rank();
  is_row_kept_ = rank > 0 && !reduced[0];
  is_row_reduced_ = rank > 0 && reduced[0];
  int64_t stride = 1;
  int last_kind = -1;
  for (int i = rank; i-- > 0;) {
    const bool is_reduced = reduced[static_cast<size_t>(i)];
    const int64_t size = shape[i];
    auto& dims = is_reduced ? reduced_ : kept_;
    if (size != 1) {
      if (last_kind == static_cast<int>(is_reduced)) {
        dims.front().size = checked_mul(dims.front().size, size);
      } else {
        dims.insert(dims.begin(), Dim{size, stride});
      }
      last_kind = static_cast<int>(is_reduced);
    }
    auto& count = is_reduced ? reduced_count_ : kept_count_;
    auto& per_row = is_reduced ? reduced_per_row_ : kept_per_row_;
    count = checked_mul(count, size);
    if (i > 0) per_row = checked_mul(per_row, size);
    stride = checked_mul(stride, std::max<int64_t>(size, 1));
  }
  if (kept_.empty()) kept_.push_back({1, stride});
  if (reduced_.empty()) reduced_.push_back({1, stride});
}

int64_t ReduceView::offset(const std::vector<Dim>& dims, int64_t i) {
  int64_t at = 0;
  for (size_t d = dims.size(); d-- > 1;) {
    at += i % dims[d].size * dims[d].stride;
    i /= dims[d].size;
  }
  return at + i * dims[0].stride;
}

}  // namespace martello::internal
