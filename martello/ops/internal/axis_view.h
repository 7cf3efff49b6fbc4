#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>

#include <algorithm>

namespace martello::internal {

// A contiguous tensor seen from one axis, or from a range of axes taken as one: [outer, size, inner]. Dimension 0,
// which may have fewer rows at run time, is part of `outer` or of `size`.
struct AxisView {
  int64_t inner = 1;

  AxisView(const Shape& shape, int axis)
      : AxisView(shape, normalized_axis(axis, shape.rank()), normalized_axis(axis, shape.rank()) + 1) {}
  AxisView(const Shape& shape, int first, int last)
      : inner(shape.num_elements(last, shape.rank())),
        is_row_outer_(first > 0),
        is_row_in_size_(first == 0 && last > 0),
        outer_(shape.num_elements(is_row_outer_ ? 1 : 0, first)),
        size_(shape.num_elements(is_row_in_size_ ? 1 : first, last)) {}

  int64_t outer(const KernelRun& run) const { return is_row_outer_ ? checked_mul(run.in_rows(0), outer_) : outer_; }
  int64_t size(const KernelRun& run) const { return is_row_in_size_ ? checked_mul(run.in_rows(0), size_) : size_; }

 private:
  bool is_row_outer_, is_row_in_size_;
  int64_t outer_, size_;  // per row where the row is part of them
};

// How many rows of `row_elements` one chunk of a parallel loop takes: about 16384 elements, whatever the threads.
inline int64_t rows_per_chunk(int64_t row_elements) {
  return row_elements < 16384 ? 16384 / (row_elements < 1 ? 1 : row_elements) : 1;
}

// Calls f(row) for each of `rows` rows of about `row_elements`.
template <class F>
void for_rows(int threads, int64_t rows, int64_t row_elements, F f) {
  const int64_t chunk = rows_per_chunk(row_elements);
  parallel_for(threads, ceil_div(rows, chunk), [&](int64_t c) {
    for (int64_t r = c * chunk; r < std::min(rows, (c + 1) * chunk); ++r) f(r);
  });
}

}  // namespace martello::internal
