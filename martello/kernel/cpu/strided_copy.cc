#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/strided_copy.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace martello::cpu {
namespace {

using Vec4 = uint32_t __attribute__((vector_size(16)));

template <class F>
void visit_width(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

template <class T>
void move_one(const std::byte* src, std::byte* dst) {
  std::memcpy(dst, src, sizeof(T));
}

template <class T>
void copy_strided(const std::byte* src, std::byte* dst, const CopyDim& dim, int64_t n) {
  for (int64_t i = 0; i < n; ++i) move_one<T>(src + i * dim.src, dst + i * dim.dst);
}

template <class T>
void repeat(const std::byte* src, std::byte* dst, int64_t n) {
  T value;
  std::memcpy(&value, src, sizeof(T));
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

void transpose_4x4(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride) {
  Vec4 a, b, c, d;
  std::memcpy(&a, src, 16);
  std::memcpy(&b, src + src_stride, 16);
  std::memcpy(&c, src + 2 * src_stride, 16);
  std::memcpy(&d, src + 3 * src_stride, 16);
  const Vec4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vec4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Vec4 out[4] = {
      __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int64_t i = 0; i < 4; ++i) std::memcpy(dst + i * dst_stride, &out[i], 16);
}

// dst[r][c] = src[c][r]: a row is contiguous in the source along r, in the destination along c.
template <class T>
void transpose_tile(const std::byte* src, int64_t src_stride, std::byte* dst, int64_t dst_stride, int64_t rows,
                    int64_t columns) {
  constexpr int64_t kWidth = sizeof(T);
  int64_t whole_rows = 0, whole_columns = 0;
  if constexpr (kWidth == 4) {
    whole_rows = rows / 4 * 4;
    whole_columns = columns / 4 * 4;
    for (int64_t r = 0; r < whole_rows; r += 4)
      for (int64_t c = 0; c < whole_columns; c += 4)
        transpose_4x4(src + c * src_stride + r * kWidth, src_stride, dst + r * dst_stride + c * kWidth, dst_stride);
  }
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      move_one<T>(src + c * src_stride + r * kWidth, dst + r * dst_stride + c * kWidth);
}

// Drops dimensions of one element and merges neighbours that are one dimension in both views.
std::vector<CopyDim> merged(const std::vector<CopyDim>& dims) {
  std::vector<CopyDim> out;
  for (const CopyDim& d : dims) {
    if (d.size == 1) continue;
    if (!out.empty() && out.back().src == d.size * d.src && out.back().dst == d.size * d.dst) {
      out.back() = {out.back().size * d.size, d.src, d.dst};
    } else {
      out.push_back(d);
    }
  }
  return out;
}

int64_t num_elements(const std::vector<CopyDim>& dims) {
  std::vector<int64_t> sizes;
  for (const CopyDim& d : dims) sizes.push_back(d.size);
  return checked_product(sizes);
}

}  // namespace

StridedCopy::StridedCopy(std::vector<CopyDim> dims, int64_t element_bytes) : element_bytes_(element_bytes) {
  if (num_elements(dims) == 0) {
    units_ = 0;
    return;
  }
  outer_ = merged(dims);
  if (outer_.empty()) outer_.push_back({1, 1, 1});
  for (CopyDim& d : outer_) d = {d.size, d.src * element_bytes, d.dst * element_bytes};
  choose_inner();
  const int64_t row_blocks = inner_ == Inner::transposed ? cut_into_blocks(row_, row_block_) : 1;
  const int64_t column_blocks = cut_into_blocks(column_, column_block_);
  MARTELLO_CHECK(outer_.size() <= kMostDims, "[strided_copy] more than ", kMostDims, " dimensions to copy.");
  units_ = num_elements(outer_);
  const int64_t elements = row_.size * column_.size / (row_blocks * column_blocks);
  units_per_chunk_ = std::max<int64_t>(1, kUnitBytes / (std::max<int64_t>(elements, 1) * element_bytes));
}

void StridedCopy::choose_inner() {
  column_ = outer_.back();
  outer_.pop_back();
  column_block_ = std::max<int64_t>(1, kUnitBytes / element_bytes_);
  const bool is_dense = column_.dst == element_bytes_;
  if (is_dense && column_.src == element_bytes_) {
    inner_ = Inner::contiguous;
  } else if (is_dense && column_.src == 0) {
    inner_ = Inner::repeated;
  } else if (is_dense) {
    const auto row =
        std::find_if(outer_.begin(), outer_.end(), [&](const CopyDim& d) { return d.src == element_bytes_; });
    if (row == outer_.end()) return;
    inner_ = Inner::transposed;
    row_ = *row;
    outer_.erase(row);
    // Few rows or columns: longer tiles of the other.
    row_block_ = kTile * std::max<int64_t>(1, kTile / column_.size);
    column_block_ = kTile * std::max<int64_t>(1, kTile / row_.size);
  }
}

int64_t StridedCopy::cut_into_blocks(const CopyDim& dim, int64_t block) {
  const int64_t blocks = ceil_div(dim.size, block);
  outer_.push_back({blocks, dim.src * block, dim.dst * block});
  return blocks;
}

void StridedCopy::copy_unit(const std::byte* src, std::byte* dst, int64_t columns, int64_t rows) const {
  switch (inner_) {
    case Inner::contiguous: std::memcpy(dst, src, static_cast<size_t>(columns * element_bytes_)); return;
    case Inner::repeated: return visit_width(element_bytes_, [&](auto t) { repeat<decltype(t)>(src, dst, columns); });
    case Inner::strided:
      return visit_width(element_bytes_, [&](auto t) { copy_strided<decltype(t)>(src, dst, column_, columns); });
    case Inner::transposed:
      return visit_width(element_bytes_,
                         [&](auto t) { transpose_tile<decltype(t)>(src, column_.src, dst, row_.dst, rows, columns); });
  }
}

void StridedCopy::copy_units(const std::byte* src, std::byte* dst, int64_t begin, int64_t end) const {
  std::array<int64_t, kMostDims> index{};
  const size_t n = outer_.size();
  int64_t rest = begin;
  for (size_t d = n; d-- > 0; rest /= outer_[d].size) {
    index[d] = rest % outer_[d].size;
    src += index[d] * outer_[d].src;
    dst += index[d] * outer_[d].dst;
  }
  for (int64_t u = begin; u < end; ++u) {
    const int64_t columns = std::min(column_block_, column_.size - index[n - 1] * column_block_);
    const int64_t rows = inner_ == Inner::transposed ? std::min(row_block_, row_.size - index[n - 2] * row_block_) : 1;
    copy_unit(src, dst, columns, rows);
    for (size_t d = n; d-- > 0;) {
      src += outer_[d].src;
      dst += outer_[d].dst;
      if (++index[d] < outer_[d].size) break;
      src -= outer_[d].size * outer_[d].src;
      dst -= outer_[d].size * outer_[d].dst;
      index[d] = 0;
    }
  }
}

void StridedCopy::run(const void* src, void* dst, int threads) const {
  parallel_for(threads, ceil_div(units_, units_per_chunk_), [&](int64_t chunk) {
    const int64_t begin = chunk * units_per_chunk_;
    copy_units(static_cast<const std::byte*>(src), static_cast<std::byte*>(dst), begin,
               std::min(units_, begin + units_per_chunk_));
  });
}

RowwiseCopy::RowwiseCopy(std::vector<CopyDim> dims, int64_t element_bytes)
    : rows_(dims.empty() ? CopyDim{1, 0, 0} : dims[0]),
      element_bytes_(element_bytes),
      whole_(dims, element_bytes),
      row_(dims.empty() ? dims : std::vector<CopyDim>(dims.begin() + 1, dims.end()), element_bytes) {}

void RowwiseCopy::run(const void* src, void* dst, int64_t rows, int threads) const {
  if (rows == rows_.size) return whole_.run(src, dst, threads);
  parallel_for(threads, rows, [&](int64_t r) {
    row_.run(static_cast<const std::byte*>(src) + r * rows_.src * element_bytes_,
             static_cast<std::byte*>(dst) + r * rows_.dst * element_bytes_, 1);
  });
}

std::vector<int64_t> dense_strides(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked_mul(stride, std::max<int64_t>(shape[static_cast<int>(i)], 1));
  }
  return strides;
}

}  // namespace martello::cpu
