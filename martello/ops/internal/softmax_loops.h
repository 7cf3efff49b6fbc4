#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of softmax_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

inline constexpr int64_t kSoftmaxRows = 64;  // the most rows one call of a row loop takes

template <class T>
struct SoftmaxLoops {
  // Rows of n side by side. `max` and `log_sum` take one number per row; they may be null.
  void (*softmax_rows)(const T* x, T* y, T* max, T* log_sum, int64_t rows, int64_t n);
  void (*log_softmax_rows)(const T* x, T* y, int64_t rows, int64_t n);
  void (*logsumexp_rows)(const T* x, T* y, int64_t rows, int64_t n);
  // y = x * factors[row]
  void (*scale_rows)(const T* x, const T* factors, T* y, int64_t rows, int64_t n);
  // Columns of n elements, `stride` apart, side by side.
  void (*softmax_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t columns);
  void (*log_softmax_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t columns);
  void (*logsumexp_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t columns);
};

MARTELLO_PER_ISA(extern const SoftmaxLoops<float> softmax_loops_f32;
                 extern const SoftmaxLoops<double> softmax_loops_f64;)

// Those of this machine.
template <class T>
const SoftmaxLoops<T>& softmax_loops();

}  // namespace martello::cpu
