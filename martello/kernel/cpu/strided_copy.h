#pragma once
#include <martello/kernel/cpu/transpose_block.h>
#include <martello/tensor/shape.h>

#include <cstddef>
#include <vector>

namespace martello::cpu {

// One dimension of a box of elements, with its strides in elements. A source stride may be 0 (repeat) or negative.
struct CopyDim {
  int64_t size = 1;
  int64_t src = 0;
  int64_t dst = 0;
};

// Copies a box between two strided views: what slices, transposes, tiles, concatenations ... do. Made once; run()
// allocates nothing. Both pointers stand at the element with index 0 in every dimension.
class StridedCopy {
 public:
  StridedCopy(std::vector<CopyDim> dims, int64_t element_bytes);
  void run(const void* src, void* dst, int threads) const;

 private:
  enum class Inner : uint8_t { contiguous, repeated, transposed, strided };
  static constexpr size_t kMostDims = 32;
  static constexpr int64_t kUnitBytes = 65536, kLineBytes = 64;

  void choose_inner();
  void choose_block();
  int64_t cut_into_blocks(const CopyDim& dim, int64_t block);
  void copy_units(const std::byte* src, std::byte* dst, int64_t begin, int64_t end) const;
  void copy_unit(const std::byte* src, std::byte* dst, int64_t columns, int64_t rows) const;

  std::vector<CopyDim> outer_;  // in bytes, outermost first; the last ones count blocks of row_ and column_
  CopyDim column_;              // the innermost dimension, in bytes
  CopyDim row_;                 // with `transposed`: the dimension that is contiguous in the source
  int64_t column_block_ = 1, row_block_ = 1;
  int64_t units_ = 1, units_per_chunk_ = 1;
  int64_t total_elements_ = 0, element_bytes_;
  Inner inner_ = Inner::strided;
  TransposeLoop transpose_ = nullptr;
  bool is_streamed_ = false;
};

// A StridedCopy whose first dimension counts rows, of which a run may have fewer than planned.
class RowwiseCopy {
 public:
  RowwiseCopy(std::vector<CopyDim> dims, int64_t element_bytes);
  void run(const void* src, void* dst, int64_t rows, int threads) const;

 private:
  CopyDim rows_;
  int64_t element_bytes_;
  StridedCopy whole_, row_;
};

// Strides in elements of a dense tensor.
std::vector<int64_t> dense_strides(const Shape& shape);

}  // namespace martello::cpu
