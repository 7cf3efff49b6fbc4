#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/internal/gemm_loops.h>

#include <algorithm>
#include <cstring>

// Note [LSTM sequence]: the product of a step is as fast as w can be read, so w is packed once for all steps, in blocks
// of columns that belong to the same units, and a block's cells are computed as soon as its columns are: one fork of
// the team per step, and what is between product and cells never leaves the first cache. Blocks are cut by size alone
// and a sum is one chain along k (GemmTask), so bits depend neither on threads nor on the level.
namespace martello::internal {

// A recurrence cut into blocks of units and of rows.
struct SequenceBlocks {
  static constexpr int64_t kMostRows = 48;
  int64_t steps, rows, units, gates;  // `gates` numbers per unit before its cell
  int64_t block_units;

  int64_t state() const { return rows * units; }
  int64_t gates_row() const { return gates * units; }
  int64_t blocks() const { return ceil_div(units, block_units); }
  int64_t row_blocks() const { return ceil_div(rows, kMostRows); }
  int64_t rows_per_block() const { return ceil_div(rows, std::max<int64_t>(row_blocks(), 1)); }
  bool is_empty() const { return steps == 0 || rows == 0 || units == 0; }
  int64_t packed_elements() const {
    return steps > 0 ? checked_mul(checked_mul(gates, units), checked_mul(blocks(), block_units)) : 0;
  }
};

// Rows and units of one chunk.
struct SequencePart {
  int64_t first_row, rows, first_unit, units, block;
  SequencePart(const SequenceBlocks& s, int64_t chunk) {
    const int64_t row_blocks = s.row_blocks();
    block = chunk / row_blocks;
    first_row = chunk % row_blocks * s.rows_per_block();
    rows = std::min(s.rows_per_block(), s.rows - first_row);
    first_unit = block * s.block_units;
    units = std::min(s.block_units, s.units - first_unit);
  }
};

template <class F>
void for_parts(int threads, const SequenceBlocks& s, F f) {
  parallel_for(threads, s.blocks() * s.row_blocks(), [&](int64_t chunk) { f(SequencePart(s, chunk)); });
}

// Packs w [units, gates units]: row k of a block holds its units' columns of one gate after the other, 0 past the last
// unit.
template <class T>
void pack_columns(int threads, const SequenceBlocks& s, const T* w, T* packed) {
  parallel_for(threads, s.blocks(), [&](int64_t b) {
    const int64_t first = b * s.block_units, units = std::min(s.block_units, s.units - first);
    T* to = packed + b * s.gates_row() * s.block_units;
    for (int64_t k = 0; k < s.units; ++k)
      for (int64_t gate = 0; gate < s.gates; ++gate, to += s.block_units) {
        std::memcpy(to, w + k * s.gates_row() + gate * s.units + first, static_cast<size_t>(units) * sizeof(T));
        std::fill(to + units, to + s.block_units, T{0});
      }
  });
}

// Packs w transposed: column u of a block is the row of w of its unit u.
template <class T>
void pack_rows(int threads, const SequenceBlocks& s, const T* w, T* packed) {
  constexpr int64_t kAtOnce = 16;  // elements of a row, so that lines of both sides are used whole
  const int64_t k = s.gates_row(), width = s.block_units;
  parallel_for(threads, s.blocks(), [&](int64_t b) {
    const int64_t first = b * width, units = std::min(width, s.units - first);
    T* to = packed + b * k * width;
    if (units < width) std::fill_n(to, k * width, T{0});
    for (int64_t p = 0; p < k; p += kAtOnce)
      for (int64_t u = 0; u < units; ++u)
        for (int64_t i = p; i < std::min(k, p + kAtOnce); ++i) to[i * width + u] = w[(first + u) * k + i];
  });
}

// tile [rows, columns] = a [rows, k] block [k, columns]
template <class T>
void multiply_block(const T* a, int64_t k, const T* block, int64_t columns, int64_t rows, T* tile) {
  cpu::gemm_loops<T>().rows({.a = a,
                             .a_row = k,
                             .a_column = 1,
                             .b = block,
                             .b_row = columns,
                             .is_packed = false,
                             .y = tile,
                             .y_row = columns,
                             .bias = nullptr,
                             .relu = false,
                             .k = k,
                             .first_row = 0,
                             .last_row = rows,
                             .first_column = 0,
                             .last_column = columns});
}

template <class T>
void copy_elements(const T* from, int64_t count, T* to) {
  if (count > 0 && from != to) std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
}

}  // namespace martello::internal
