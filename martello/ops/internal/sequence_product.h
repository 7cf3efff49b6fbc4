#pragma once
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/transpose_block.h>
#include <martello/ops/internal/gemm_ahead.h>
#include <martello/ops/internal/sequence_blocks.h>

#include <cstring>

// Products of a block of rows and a block of w; see Note [LSTM sequence].
namespace martello::internal {

// Packs w [units, gates units]: row k of a block holds its units' columns of one gate after the other, 0 past the last
// unit. A few rows at a time, so that lines of w that two blocks share are read once.
template <int64_t kUnits, class T>
void pack_columns(int threads, const SequenceBlocks& s, const T* w, T* packed) {
  constexpr int64_t kAtOnce = 8;
  const auto pack = [&](int64_t b, int64_t begin, int64_t end) {
    const int64_t first = b * kUnits, units = std::min(kUnits, s.units - first);
    T* to = packed + (b * s.units + begin) * s.gates * kUnits;
    for (int64_t k = begin; k < end; ++k)
      for (int64_t gate = 0; gate < s.gates; ++gate, to += kUnits) {
        const T* from = w + k * s.gates_row() + gate * s.units + first;
        if (units == kUnits) std::memcpy(to, from, kUnits * sizeof(T));
        else std::fill(std::copy_n(from, units, to), to + kUnits, T{0});
      }
  };
  for_shares(threads, s.blocks(), [&](int64_t first, int64_t last) {
    for (int64_t k = 0; k < s.units; k += kAtOnce)
      for (int64_t b = first; b < last; ++b) pack(b, k, std::min(s.units, k + kAtOnce));
  });
}

// Packs w transposed: column u of a block is the row of w of its unit u.
template <class T>
void pack_rows(int threads, const SequenceBlocks& s, const T* w, T* packed) {
  constexpr int64_t kBytes = sizeof(T);
  const int64_t k = s.gates_row(), width = s.block_units;
  const auto transpose =
      cpu::of_host_isa(cpu::v2::transpose_loop, cpu::v3::transpose_loop, cpu::v4::transpose_loop)(kBytes);
  parallel_for(threads, s.blocks(), [&](int64_t b) {
    const int64_t first = b * width, units = std::min(width, s.units - first);
    T* to = packed + b * k * width;
    if (units < width) std::fill_n(to, k * width, T{0});
    transpose({.src = reinterpret_cast<const char*>(w + first * k),
               .src_stride = k * kBytes,
               .dst = reinterpret_cast<char*>(to),
               .dst_stride = width * kBytes,
               .rows = k,
               .columns = units,
               .streaming = false});
  });
}

// tile [rows, columns] = a [rows, k] block [k, columns], of which the first `used` columns are needed
template <class T>
void multiply_block(const T* a, int64_t k, const T* block, int64_t columns, int64_t used, int64_t rows, T* tile,
                    cpu::GemmAhead& ahead) {
  constexpr int64_t kWidest = 64 / sizeof(T);  // lanes of a vector: a part of one is slower than a whole one
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
                             .last_column = std::min(columns, align_up(used, kWidest)),
                             .ahead = &ahead});
}

template <class T>
void copy_elements(const T* from, int64_t count, T* to) {
  if (count > 0 && from != to) std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
}

}  // namespace martello::internal
