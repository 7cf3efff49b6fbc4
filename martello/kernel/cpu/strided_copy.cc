#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/strided_copy.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace martello::cpu {
namespace {

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

TransposeLoop transpose_loop_here(int64_t element_bytes) {
  switch (host_isa()) {
    case Isa::v2: return v2::transpose_loop(element_bytes);
    case Isa::v3: return v3::transpose_loop(element_bytes);
    case Isa::v4: break;
  }
  return v4::transpose_loop(element_bytes);
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
  total_elements_ = num_elements(dims);
  if (total_elements_ == 0) {
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
    choose_block();
  }
}

// A block is read along a few long rows of the source, which arrive in the order in which they lie, and written by
// whole cache lines. With few rows it has more columns.
void StridedCopy::choose_block() {
  const int64_t line = kLineBytes / element_bytes_, elements = kUnitBytes / element_bytes_;
  row_block_ = elements / line;
  column_block_ = std::max(line, elements / std::max(row_.size, line) / line * line);
  transpose_ = transpose_loop_here(element_bytes_);
  is_streamed_ = checked_mul(total_elements_, element_bytes_) > last_level_cache_bytes();
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
      return transpose_({reinterpret_cast<const char*>(src), column_.src, reinterpret_cast<char*>(dst), row_.dst, rows,
                         columns, is_streamed_});
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
