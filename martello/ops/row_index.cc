#include <martello/ops/internal/row_index.h>

#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace martello::internal {
namespace {

constexpr int64_t kIndicesPerChunk = 16384;

void keep_smallest(std::atomic<int64_t>& smallest, int64_t value) {
  int64_t seen = smallest.load(std::memory_order_relaxed);
  while (value < seen && !smallest.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

template <size_t kBytes>
void copy_fixed(const std::byte* from, std::byte* to, size_t) {
  std::memcpy(to, from, kBytes);
}
void copy_bytes(const std::byte* from, std::byte* to, size_t bytes) { std::memcpy(to, from, bytes); }

auto copier(int64_t bytes) {
  switch (bytes) {
    case 1: return copy_fixed<1>;
    case 2: return copy_fixed<2>;
    case 4: return copy_fixed<4>;
    case 8: return copy_fixed<8>;
    default: return copy_bytes;
  }
}

// Sums are made in float for 16-bit types; integers wrap around; bools are or-ed.
template <class T>
struct Accumulator {
  using type = std::conditional_t<sizeof(T) == 2, float, T>;
};
template <>
struct Accumulator<bool> {
  using type = uint8_t;
};
template <>
struct Accumulator<int32_t> {
  using type = uint32_t;
};
template <>
struct Accumulator<int64_t> {
  using type = uint64_t;
};

template <class T>
class RowSums {
 public:
  RowSums(const T* x, T* y, const RowBlocks& blocks, const int64_t* links)
      : x_(x), y_(y), blocks_(blocks), first_(links), next_(links + blocks.batch * blocks.rows) {}

  // Row r of the output, counted over batches and middle.
  void sum_row(int64_t r) const {
    const int64_t row = r % blocks_.rows, block = r / blocks_.rows, batch = block / blocks_.middle;
    const int64_t first = first_[batch * blocks_.rows + row];
    const T* x = x_ + block * blocks_.indices * blocks_.inner;
    T* y = y_ + r * blocks_.inner;
    if (first < 0) {
      std::memset(static_cast<void*>(y), 0, static_cast<size_t>(blocks_.inner) * sizeof(T));
      return;
    }
    for (int64_t begin = 0; begin < blocks_.inner; begin += kPart)
      sum_part(x + begin, y + begin, std::min(kPart, blocks_.inner - begin), first, next_ + batch * blocks_.indices);
  }

 private:
  using Acc = typename Accumulator<T>::type;
  static constexpr int64_t kPart = 256;

  void sum_part(const T* x, T* y, int64_t n, int64_t first, const int64_t* next) const {
    Acc sum[kPart];
    const T* from = x + first * blocks_.inner;
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<Acc>(from[i]);
    for (int64_t j = next[first]; j >= 0; j = next[j]) {
      from = x + j * blocks_.inner;
      for (int64_t i = 0; i < n; ++i) sum[i] = add(sum[i], static_cast<Acc>(from[i]));
    }
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(sum[i]);
  }
  static Acc add(Acc a, Acc b) {
    if constexpr (std::is_same_v<T, bool>) {
      return static_cast<Acc>(a | b);
    } else {
      return static_cast<Acc>(a + b);
    }
  }

  const T* x_;
  T* y_;
  RowBlocks blocks_;
  const int64_t* first_;
  const int64_t* next_;
};

// For each row the list of indices that name it, in ascending order: first, then next of each.
void link_indices(const int64_t* row, const RowBlocks& blocks, int64_t* links) {
  int64_t* next = links + blocks.batch * blocks.rows;
  std::fill(links, next, int64_t{-1});
  for (int64_t b = 0; b < blocks.batch; ++b)
    for (int64_t j = blocks.indices; j-- > 0;) {
      int64_t& first = links[b * blocks.rows + row[b * blocks.indices + j]];
      next[b * blocks.indices + j] = first;
      first = j;
    }
}

}  // namespace

RowIndex::RowIndex(const KernelPlan& plan, int input, std::vector<int64_t> limits)
    : op_(plan.op.where()), dtype_(plan.in[static_cast<size_t>(input)].dtype), limits_(std::move(limits)) {}

void RowIndex::refuse(int64_t element, int64_t value, int64_t limit) const {
  const int64_t width = static_cast<int64_t>(limits_.size());
  const std::string place = width == 1 ? str(element) : str(element / width, ", ", element % width);
  throw InvalidArgument(str(op_, "indices[", place, "] is ", value, ", outside [0, ", limit,
                            "). Every index names an element that exists."));
}

template <class I>
void RowIndex::fill_typed(const I* indices, int64_t tuples, const int64_t* limits, int64_t* rows, int threads) const {
  const int64_t width = static_cast<int64_t>(limits_.size());
  std::atomic<int64_t> bad{tuples * width};
  parallel_for(threads, ceil_div(tuples, kIndicesPerChunk), [&](int64_t c) {
    for (int64_t t = c * kIndicesPerChunk; t < std::min(tuples, (c + 1) * kIndicesPerChunk); ++t) {
      int64_t row = 0;
      for (int64_t k = 0; k < width; ++k) {
        const int64_t index = static_cast<int64_t>(indices[t * width + k]);
        if (index < 0 || index >= limits[k]) {
          keep_smallest(bad, t * width + k);
          row = 0;
          break;
        }
        row = row * limits[k] + index;
      }
      rows[t] = row;
    }
  });
  const int64_t first = bad.load(std::memory_order_relaxed);
  if (first < tuples * width) refuse(first, static_cast<int64_t>(indices[first]), limits[first % width]);
}

void RowIndex::fill(const void* indices, int64_t tuples, int64_t first_limit, int64_t* rows, int threads) const {
  constexpr size_t kMostAxes = 32;
  MARTELLO_CHECK(limits_.size() <= kMostAxes, op_, "index tuples are longer than ", kMostAxes, ".");
  int64_t limits[kMostAxes];
  std::copy(limits_.begin(), limits_.end(), limits);
  if (!limits_.empty()) limits[0] = first_limit;
  if (dtype_ == i32) return fill_typed(static_cast<const int32_t*>(indices), tuples, limits, rows, threads);
  fill_typed(static_cast<const int64_t*>(indices), tuples, limits, rows, threads);
}

void take_rows(const void* x, const int64_t* row, void* y, const RowBlocks& blocks, int64_t width, int threads) {
  const int64_t bytes = blocks.inner * width, total = blocks.batch * blocks.middle * blocks.indices;
  if (bytes == 0 || total == 0) return;
  const int64_t chunk = rows_per_copy(bytes);
  const auto copy = copier(bytes);
  parallel_for(threads, ceil_div(total, chunk), [&](int64_t c) {
    const int64_t end = std::min(total, (c + 1) * chunk);
    for (int64_t r = c * chunk; r < end;) {
      const int64_t block = r / blocks.indices, j = r % blocks.indices, n = std::min(end - r, blocks.indices - j);
      const int64_t* from_row = row + block / blocks.middle * blocks.indices + j;
      const std::byte* from = static_cast<const std::byte*>(x) + block * blocks.rows * bytes;
      std::byte* to = static_cast<std::byte*>(y) + r * bytes;
      for (int64_t i = 0; i < n; ++i) copy(from + from_row[i] * bytes, to + i * bytes, static_cast<size_t>(bytes));
      r += n;
    }
  });
}

void add_rows(DType dtype, const void* x, const int64_t* row, void* y, const RowBlocks& blocks, int64_t* links,
              int threads) {
  const int64_t total = blocks.batch * blocks.middle * blocks.rows;
  if (total == 0 || blocks.inner == 0) return;
  link_indices(row, blocks, links);
  const int64_t chunk = rows_per_copy(blocks.inner * size_of(dtype));
  visit_dtype(dtype, [&](auto t) {
    using T = decltype(t);
    const RowSums<T> sums(static_cast<const T*>(x), static_cast<T*>(y), blocks, links);
    parallel_for(threads, ceil_div(total, chunk), [&](int64_t c) {
      for (int64_t r = c * chunk; r < std::min(total, (c + 1) * chunk); ++r) sums.sum_row(r);
    });
  });
}

}  // namespace martello::internal
