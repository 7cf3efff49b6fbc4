#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of pool_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

struct PoolAxis {
  int64_t in, out, size, stride, before;
};
// Images [h.in, w.in, channels] and [h.out, w.out, channels], or planes of one channel.
struct PoolImage {
  PoolAxis h, w;
  int64_t channels;
};

// Row `row` of one image; pointers are those of the image. The index of an output is its place in the window, row by
// row; padded cells count. Index: uint8_t or int32_t.
template <class T, class Index>
struct PoolLoops {
  // Rows of outputs.
  void (*max)(const T* x, T* y, Index* index, const PoolImage& image, int64_t row);
  void (*take)(const T* x, T* y, const Index* index, const PoolImage& image, int64_t row);
  // Rows of inputs. `may_stream`: dx past the caches.
  void (*max_grad)(const T* dy, const Index* index, T* dx, const PoolImage& image, int64_t row, bool may_stream);
};
template <class T>
struct AvgPoolLoops {
  void (*mean)(const T* x, T* y, const PoolImage& image, int64_t row);                          // of outputs
  void (*mean_grad)(const T* dy, T* dx, const PoolImage& image, int64_t row, bool may_stream);  // of inputs
};

// All rows of max_pool without its index.
using LargestRows = void (*)(const float* x, float* y, const PoolImage& image);

MARTELLO_PER_ISA(extern const LargestRows largest_rows_f32; extern const PoolLoops<float, uint8_t> pool_loops_f32_u8;
                 extern const PoolLoops<float, int32_t> pool_loops_f32_i32;
                 extern const PoolLoops<double, uint8_t> pool_loops_f64_u8;
                 extern const PoolLoops<double, int32_t> pool_loops_f64_i32;
                 extern const AvgPoolLoops<float> avg_pool_loops_f32;
                 extern const AvgPoolLoops<double> avg_pool_loops_f64;)

}  // namespace martello::cpu
