#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of the normalizations, over columns (channels innermost, batch_norm_isa.cc) and over rows (one channel side
// by side, group_norm_isa.cc). Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// `rows` rows of `width` elements, `stride` apart, then `tail` elements of one more.
struct ColumnBlock {
  int64_t rows, width, stride, tail;
};

// z = (x - mean) scale + beta, one number per column or per row; y = z, or max(z, 0) with relu. Gradients find the same
// z again: where it is not positive, relu lets nothing through.
template <class T>
struct ChannelAffine {
  const T *mean, *scale, *beta;
  bool relu;
};
// dx = a dy + b (x - mean) + c
template <class T>
struct ChannelSlope {
  const T *a, *b, *c;
};

// x is T, or the bits of bf16.
template <class T, class X = T>
struct ColumnLoops {
  // Mean and sum of squared distances from it; 0 for a column of nothing.
  void (*moments)(const X* x, const ColumnBlock&, T* mean, T* squares);
  // `addend`, where it is not null, is added to z.
  void (*normalize)(const X* x, const T* addend, T* y, const ColumnBlock&, const ChannelAffine<T>&, bool streaming);
  // Sums of dy and of dy (x - mean).
  void (*gradient_sums)(const X* x, const T* dy, const ColumnBlock&, const ChannelAffine<T>&, T* sum, T* product);
  void (*gradient)(const X* x, const T* dy, T* dx, const ColumnBlock&, const ChannelAffine<T>&, const ChannelSlope<T>&,
                   bool streaming);
  // The same with results in bf16; null unless T is float.
  void (*normalize_bf16)(const X* x, const T* addend, uint16_t* y, const ColumnBlock&, const ChannelAffine<T>&,
                         bool streaming);
  void (*gradient_bf16)(const X* x, const T* dy, uint16_t* dx, const ColumnBlock&, const ChannelAffine<T>&,
                        const ChannelSlope<T>&, bool streaming);
  // Moments of `count` more elements are merged into those of `before`, n of them side by side. What was there before
  // is not looked at when `before` is 0.
  void (*merge_moments)(const T* mean, const T* squares, double count, double before, double* into_mean,
                        double* into_squares, int64_t n);
  void (*add)(const T* x, double* into, int64_t n);
};

// The same for one row of n elements; numbers are those of its channel.
template <class T>
struct RowLoops {
  void (*moments)(const T* x, int64_t n, double* mean, double* squares);
  void (*normalize)(const T* x, const T* addend, T* y, int64_t n, const ChannelAffine<T>&, bool streaming);
  void (*gradient_sums)(const T* x, const T* dy, int64_t n, const ChannelAffine<T>&, double* sum, double* product);
  void (*gradient)(const T* x, const T* dy, T* dx, int64_t n, const ChannelAffine<T>&, const ChannelSlope<T>&,
                   bool streaming);
};

MARTELLO_PER_ISA(extern const ColumnLoops<float> column_loops_f32; extern const ColumnLoops<double> column_loops_f64;
                 extern const ColumnLoops<float, uint16_t> column_loops_bf16;
                 extern const RowLoops<float> row_loops_f32; extern const RowLoops<double> row_loops_f64;)

// Those of this machine.
template <class T, class X = T>
const ColumnLoops<T, X>& column_loops();
template <class T>
const RowLoops<T>& row_loops();

}  // namespace martello::cpu
