#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of matmul_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Memory that later work uses, asked for a few lines at a time along the sums of a product.
struct GemmAhead {
  struct Part {
    uintptr_t row;
    uintptr_t row_bytes, bytes;  // from row to row, and of a row that are used
    int64_t rows;
    bool writes;  // it is not only read
  };
  static constexpr int kMost = 8;
  Part parts[kMost];
  int count = 0, at = 0;  // parts, and the one whose turn it is
  uintptr_t line = 0;     // of its row, that comes next; 0: the first
};

// y = op(a) op(b) for rows [first_row, last_row) and columns [first_column, last_column). Every element is one chain of
// fused multiply-adds along k, whatever the cut, so the bits depend on nothing else.
template <class T>
struct GemmTask {
  const T* a;  // element (i, p) at a[i * a_row + p * a_column]
  int64_t a_row, a_column;
  const T* b;  // row p at b + p * b_row; packed: panels of GemmLoops::panel columns, k rows each
  int64_t b_row;
  bool is_packed;
  T* y;
  int64_t y_row;
  const T* bias;  // one number per column, or null
  bool relu;
  int64_t k;
  int64_t first_row, last_row, first_column, last_column;  // first_column of a packed b: where a panel begins
  bool adds = false;                                       // to what y holds
  const T* addend = nullptr;                               // lies as y does and comes after the bias, or null
  // Room for k rows of a panel, or null: where the first rows put b as they read it, for all others. b is not packed.
  T* kept = nullptr;
  bool asks_for_b = false;  // it lies in no cache: the next panel is asked for. Not where it is kept
  bool asks_for_a = false;  // its rows, each in one piece, lie in no cache: those of the next tile are asked for
  GemmAhead* ahead = nullptr;
};

template <class T>
struct GemmLoops {
  int64_t panel;  // columns
  void (*rows)(const GemmTask<T>&);
  // `count` columns of k rows as one panel, filled up with zeros. Either rows or columns lie one element apart.
  void (*pack)(const T* b, int64_t row, int64_t column, int64_t k, int64_t count, T* panel);
  // In place: adds the bias, one number per column, or null, to each row, then the addend, which lies as y does, or
  // null; then ReLU, if wanted.
  void (*finish)(T* y, int64_t rows, int64_t columns, const T* bias, const T* addend, bool relu);
};

MARTELLO_PER_ISA(extern const GemmLoops<float> gemm_loops_f32; extern const GemmLoops<double> gemm_loops_f64;)

// Those of this machine.
template <class T>
const GemmLoops<T>& gemm_loops();

}  // namespace martello::cpu
