#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>

#include <algorithm>

// Note [LSTM sequence]: the product of a step is as fast as w can be read, so w is packed once for all steps, in blocks
// of columns that belong to the same units, and a block's cells are computed as soon as its columns are: one fork of
// the team per step, and what is between product and cells never leaves the first cache. A sum is
// one chain along k (GemmTask), so bits depend neither on the blocks nor on threads nor on the level.
namespace martello::internal {

// A recurrence cut into blocks of units and of rows.
struct SequenceBlocks {
  static constexpr int64_t kMostRows = 48, kFewestRows = 8;
  int64_t steps, rows, units, gates;  // `gates` numbers per unit before its cell
  int64_t block_units;
  int64_t row_blocks;

  SequenceBlocks(int64_t step_count, int64_t row_count, int64_t unit_count, int64_t gates_per_unit,
                 int64_t units_per_block, int threads)
      : steps(step_count), rows(row_count), units(unit_count), gates(gates_per_unit), block_units(units_per_block) {
    row_blocks = std::max<int64_t>(ceil_div(rows, kMostRows), 1);
    int64_t least = share(row_blocks, threads);
    // Rows are cut further where that evens out the shares: each cut reads w once more, hence by a hundredth at least.
    for (int64_t n = row_blocks + 1; ceil_div(rows, n) >= kFewestRows; ++n) {
      if (share(n, threads) > least - least / 100 - 1) continue;
      row_blocks = n;
      least = share(n, threads);
    }
  }

  int64_t state() const { return rows * units; }
  int64_t gates_row() const { return gates * units; }
  int64_t blocks() const { return ceil_div(units, block_units); }
  int64_t rows_per_block() const { return ceil_div(rows, row_blocks); }
  bool is_empty() const { return steps == 0 || rows == 0 || units == 0; }
  int64_t packed_elements() const {
    return steps > 0 ? checked_mul(checked_mul(gates, units), checked_mul(blocks(), block_units)) : 0;
  }

 private:
  // Rows times blocks of the thread that has the most.
  int64_t share(int64_t n, int threads) const { return ceil_div(blocks() * n, threads) * ceil_div(rows, n); }
};

// Rows and units of one chunk.
struct SequencePart {
  int64_t first_row, rows, first_unit, units, block;
  SequencePart(const SequenceBlocks& s, int64_t chunk) {
    block = chunk / s.row_blocks;
    first_row = chunk % s.row_blocks * s.rows_per_block();
    rows = std::clamp<int64_t>(s.rows - first_row, 0, s.rows_per_block());
    first_unit = block * s.block_units;
    units = std::min(s.block_units, s.units - first_unit);
  }
};

// f(first, last) for each thread's share of `count`, so that a thread packs the blocks that it will read.
template <class F>
void for_shares(int threads, int64_t count, F f) {
  const int64_t shares = std::min<int64_t>(threads, count);
  parallel_for(threads, shares, [&](int64_t i) { f(i * count / shares, (i + 1) * count / shares); });
}

// f(part) for all. Steps go over the blocks to and fro: w seldom fits into a core's cache, but what one step has read
// last is still there when the next one begins with it.
template <class F>
void for_parts(int threads, const SequenceBlocks& s, int64_t step, F f) {
  const ChunkOrder order = step % 2 == 0 ? ChunkOrder::ascending : ChunkOrder::descending;
  parallel_for(
      threads, s.blocks() * s.row_blocks, [&](int64_t i) { f(SequencePart(s, i)); }, order);
}

}  // namespace martello::internal
