#pragma once
#include <martello/kernel/cpu/isa_levels.h>
#include <martello/ops/internal/random_loops.h>

// The loops of dropout_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Elements that are decided together: element l * 16 + i of group g by word l of block g * 16 + i of its row, so that a
// vector of blocks decides neighbours. A short last group leaves words unused.
inline constexpr int64_t kDropoutGroup = 64, kDropoutBlocks = kDropoutGroup / 4;

template <class T>
struct DropoutTask {
  RandomTask random;  // first_block and blocks count groups
  uint32_t limit;     // dropped where the upper 31 bits of the word are below
  T scale;
  const T* x;  // the whole input and output; may be the same
  T* y;
};

struct DropoutLoops {
  void (*run_f32)(const DropoutTask<float>&);
  void (*run_f64)(const DropoutTask<double>&);
};

MARTELLO_PER_ISA(extern const DropoutLoops dropout_loops;)

}  // namespace martello::cpu
