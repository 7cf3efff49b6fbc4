#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of conv_direct_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// A row of y = act(conv(x, kernel) + bias), from rows of x that hold their padding.
struct DirectRow {
  int64_t columns, channels;  // of y
  int64_t taps;               // numbers under a window
  const int64_t* places;      // theirs, from where a window begins
  int64_t step;               // from window to window
  int64_t block;              // windows at a time, one of kDirectBlocks and at most `columns`
  const float* kernel;        // [taps, channels]
  const float* bias;          // may be null
  bool relu;
};
inline constexpr int64_t kDirectBlocks[] = {8, 7, 6, 4, 2, 1};

struct DirectConvLoops {
  // `x` is where the first window begins. Every number of y is one chain of fused multiply-adds in the kernel's order.
  void (*row)(const DirectRow&, const float* x, float* y);
};

MARTELLO_PER_ISA(extern const DirectConvLoops direct_conv_loops;)

}  // namespace martello::cpu
