#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of resize_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// A linear map of one axis: output o is the sum of weight[t] times input from[t] for t in [first[o], first[o + 1]).
template <class T>
struct AxisMap {
  const int64_t *first, *from;
  const T* weight;
};

// Lines of images [line, out_width, inner] of one output image.
template <class T>
struct ResizeTask {
  AxisMap<T> rows, columns;
  int64_t in_width, out_width, inner;
  const T* x;  // the input image
};

struct ResizeLoops {
  // y: line `line` of the output image.
  void (*line_f32)(const ResizeTask<float>&, int64_t line, float* y);
  void (*line_f64)(const ResizeTask<double>&, int64_t line, double* y);
};

MARTELLO_PER_ISA(extern const ResizeLoops resize_loops;)

}  // namespace martello::cpu
