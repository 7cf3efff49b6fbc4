#pragma once
#include <martello/graph/kernel.h>

#include <algorithm>
#include <string>
#include <vector>

// Indices as numbers of rows. Shared by ops that take rows from a tensor or add rows to one.
namespace martello::internal {

// Turns index tuples into row numbers, the last index of a tuple running fastest. Throws InvalidArgument for the first
// index outside [0, limit), with its position and value.
class RowIndex {
 public:
  RowIndex(const KernelPlan& plan, int input, std::vector<int64_t> limits);
  // `first_limit`: the size of the first indexed axis in this run.
  void fill(const void* indices, int64_t tuples, int64_t first_limit, int64_t* rows, int threads) const;

 private:
  template <class I>
  void fill_typed(const I* indices, int64_t tuples, const int64_t* limits, int64_t* rows, int threads) const;
  [[noreturn]] void refuse(int64_t element, int64_t value, int64_t limit) const;

  std::string op_;
  DType dtype_;
  std::vector<int64_t> limits_;
};

// A tensor as [batch, middle, rows, inner]; each batch has indices of its own, shared along `middle`.
struct RowBlocks {
  int64_t batch = 1, middle = 1, rows = 1, inner = 1;
  int64_t indices = 1;  // per batch
};

// How many rows of `row_bytes` one chunk of a parallel copy takes: about 32 KiB.
inline int64_t rows_per_copy(int64_t row_bytes) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(row_bytes, 8));
}

// y[b, m, j, :] = x[b, m, row[b, j], :]
void take_rows(const void* x, const int64_t* row, void* y, const RowBlocks& blocks, int64_t width, int threads);

// y[b, m, r, :] = sum of x[b, m, j, :] over the j with row[b, j] == r, in ascending order of j. `links` holds
// batch * (rows + indices) numbers.
void add_rows(DType dtype, const void* x, const int64_t* row, void* y, const RowBlocks& blocks, int64_t* links,
              int threads);

}  // namespace martello::internal
