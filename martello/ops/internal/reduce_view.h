#pragma once
#include <martello/tensor/shape.h>

#include <algorithm>
#include <array>
#include <vector>

namespace martello::internal {

// A contiguous tensor as kept dimensions times reduced ones, neighbours of a kind merged. Dimension 0 may have fewer
// rows at run time; only counts depend on it, because the outermost size takes no part in offsets.
class ReduceView {
 public:
  struct Dim {
    int64_t size = 1;
    int64_t stride = 1;
  };

  ReduceView(const Shape& shape, const std::vector<bool>& reduced);

  // `rows` is not looked at when rank is 0.
  int64_t kept_count(int64_t rows) const { return is_row_kept_ ? kept_per_row_ * rows : kept_count_; }
  int64_t reduced_count(int64_t rows) const { return is_row_reduced_ ? reduced_per_row_ * rows : reduced_count_; }
  bool is_row_kept() const { return is_row_kept_; }        // dimension 0 is among the kept ones
  bool is_row_reduced() const { return is_row_reduced_; }  // or among the reduced ones
  const std::vector<Dim>& kept() const { return kept_; }
  const std::vector<Dim>& reduced() const { return reduced_; }
  // How many outputs from a multiple of this number on lie side by side in the input.
  int64_t adjacent_outputs() const { return kept_.back().stride == 1 ? kept_.back().size : 1; }

  int64_t kept_offset(int64_t i) const { return offset(kept_, i); }
  int64_t reduced_offset(int64_t i) const { return offset(reduced_, i); }
  // Calls f(offset, stride, count) for each evenly spaced run of the reduced elements [begin, end).
  template <class F>
  void for_each_run(int64_t begin, int64_t end, F&& f) const {
    const Dim inner = reduced_.back();
    const bool is_one_run = reduced_.size() == 1;
    for (int64_t i = begin; i < end;) {
      const int64_t count = is_one_run ? end - i : std::min(end - i, inner.size - i % inner.size);
      f(reduced_offset(i), inner.stride, count);
      i += count;
    }
  }

 private:
  static int64_t offset(const std::vector<Dim>& dims, int64_t i);

  std::vector<Dim> kept_, reduced_;  // outermost first, at least one each
  bool is_row_kept_ = false, is_row_reduced_ = false;
  int64_t kept_count_ = 1, reduced_count_ = 1, kept_per_row_ = 1, reduced_per_row_ = 1;
};

}  // namespace martello::internal
