#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of arg_reduce_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

inline constexpr int64_t kArgColumns = 512;  // the most columns of one call

// Index of the best element; NaN ranks above every number, and of equals the first is taken. 0 < n < 2^31.
template <class T>
struct ArgLoops {
  // Of each of the rows x[r, 0 .. n).
  void (*rows)(const T* x, int64_t rows, int64_t n, int64_t* index);
  // Of each of the columns x[0 .. n, j], whose rows are `stride` apart.
  void (*columns)(const T* x, int64_t n, int64_t stride, int64_t columns, int64_t* index);
};

MARTELLO_PER_ISA(extern const ArgLoops<float> largest_loops_f32; extern const ArgLoops<double> largest_loops_f64;
                 extern const ArgLoops<float> smallest_loops_f32; extern const ArgLoops<double> smallest_loops_f64;)

}  // namespace martello::cpu
