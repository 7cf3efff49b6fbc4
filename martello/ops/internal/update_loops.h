#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <cstdint>

// One span of an optimizer's pass. Compiled for each instruction-set level from optimizer_update_isa.cc.
namespace martello::cpu {

template <class T>
struct MomentumSpan {
  T* w;
  T* m;
  const T* g;
  int64_t count;
  T learning_rate, momentum;
  bool nesterov;
};

template <class T>
struct AdamSpan {
  T* w;
  T* m;
  T* v;
  const T* g;
  int64_t count;
  T rate, beta1, beta2, epsilon;  // rate: with the bias corrections
};

struct UpdateLoops {
  void (*momentum_f32)(const MomentumSpan<float>&);
  void (*momentum_f64)(const MomentumSpan<double>&);
  void (*adam_f32)(const AdamSpan<float>&);
  void (*adam_f64)(const AdamSpan<double>&);
};

MARTELLO_PER_ISA(extern const UpdateLoops update_loops;)

}  // namespace martello::cpu
