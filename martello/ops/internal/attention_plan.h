#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/ops/attention.h>
#include <martello/ops/internal/attention_loops.h>
#include <martello/ops/internal/gemm_loops.h>

#include <algorithm>
#include <cmath>
#include <vector>

// What attention and its gradient share. Chunks are blocks of queries (or keys), cut by size alone; every sum runs in
// ascending order of blocks, so bits do not depend on threads.
namespace martello::internal {

// Block i of n in an order of which every stretch has early and late ones: causal work changes along the sequence, and
// a thread takes a stretch.
inline int64_t early_and_late(int64_t i, int64_t n) { return i % 2 == 0 ? i / 2 : n - 1 - i / 2; }

struct AttentionPlan {
  static constexpr int64_t kQueries = 48;  // of a block

  int64_t batches, queries, keys, width, values;
  double scale;
  bool is_causal;
  int mask = -1;  // the input, or -1
  bool is_mask_kept = false;
  int64_t mask_row = 0;
  std::vector<int64_t> mask_at = {};  // where the mask of each batch begins

  AttentionPlan(const KernelPlan& plan, int mask_input);

  int64_t query_blocks() const { return ceil_div(queries, kQueries); }
  bool is_empty() const { return batches == 0 || queries == 0 || keys == 0; }
  // Keys up to the last that a block of queries sees.
  int64_t seen_by(int64_t first_query, int64_t rows) const {
    return is_causal ? std::min(keys, first_query + rows) : keys;
  }
  template <class T>
  cpu::AttentionScores<T> scores(const KernelRun& run, int64_t batch, int64_t query, int64_t rows, int64_t key,
                                 int64_t count, T* tile, int64_t tile_row) const {
    cpu::AttentionScores<T> s{.s = tile,
                              .row = tile_row,
                              .rows = rows,
                              .keys = count,
                              .scale = static_cast<T>(scale),
                              .is_causal = is_causal,
                              .diagonal = query + 1 - key,
                              .added = nullptr,
                              .kept = nullptr,
                              .mask_row = mask_row};
    if (mask < 0) return s;
    const int64_t at = mask_at[static_cast<size_t>(batch)] + query * mask_row + key;
    if (is_mask_kept) s.kept = run.in<bool>(mask).data() + at;
    else s.added = run.in<T>(mask).data() + at;
    return s;
  }
};

// Rows [keys, width] of every batch as the right side of products with their transpose.
template <class T>
class PackedRows {
 public:
  PackedRows(const AttentionPlan& p, int64_t width)
      : batches_(p.batches), keys_(p.keys), width_(width), panel_(cpu::gemm_loops<T>().panel) {}

  int64_t elements() const { return checked_mul(batches_, of_batch()); }
  void pack(int threads, const T* rows, T* packed) const {
    const int64_t panels = ceil_div(keys_, panel_);
    parallel_for(threads, batches_ * panels, [&](int64_t i) {
      const int64_t batch = i / panels, first = i % panels * panel_;
      cpu::gemm_loops<T>().pack(rows + (batch * keys_ + first) * width_, 1, width_, width_,
                                std::min(panel_, keys_ - first), packed + batch * of_batch() + first * width_);
    });
  }
  // tile [rows, count] = a [rows, width] times rows key ... key + count, transposed. `key` is a multiple of a panel.
  void multiply(const T* a, int64_t rows, const T* packed, int64_t batch, int64_t key, int64_t count, T* tile,
                int64_t tile_row) const;

 private:
  int64_t of_batch() const { return checked_mul(align_up(keys_, panel_), width_); }
  int64_t batches_, keys_, width_, panel_;
};

// y [rows, columns] = or += a b, a of any strides, b dense.
template <class T>
struct PlainProduct {
  const T* a;
  int64_t a_row, a_column;
  int64_t rows, k;
  const T* b;
  int64_t columns;
  T* y;
  bool adds;
  void run() const;
};

}  // namespace martello::internal
