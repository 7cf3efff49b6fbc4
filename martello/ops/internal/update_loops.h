#pragma once
#include <martello/kernel/cpu/isa_levels.h>
#include <martello/ops/update_rule.h>

// One span of an optimizer's pass. Compiled for each instruction-set level from optimizer_update_isa.cc.
namespace martello::cpu {

inline constexpr int kMostSlots = 3, kUpdateRules = static_cast<int>(UpdateRule::swap) + 1;

// What a rule knows beside its element; `rest` is one minus the beta.
template <class T>
struct UpdateConstants {
  T rate = 0;  // with bias corrections
  T keep = 1;  // 1 - learning rate * weight decay
  T momentum = 0, beta1 = 0, rest1 = 0, beta2 = 0, rest2 = 0, epsilon = 0;
  T decay = 0, trust_rate = 0;  // lamb
};

// Rows of `count` elements, `row` apart; those of g are `g_row` apart.
template <class T>
struct UpdateSpan {
  const T* g = nullptr;
  T* w = nullptr;
  T* slots[kMostSlots] = {};
  int64_t rows = 1, row = 0, g_row = 0;
  int64_t count = 0;
  UpdateConstants<T> constants = {};
};

// Sums of squares of one chunk.
struct LambNorms {
  double weight = 0, step = 0;
};

struct UpdateLoops {
  void (*f32[kUpdateRules])(const UpdateSpan<float>&);
  void (*f64[kUpdateRules])(const UpdateSpan<double>&);
  // The first pass of lamb, over one row: moves its slots and measures weight and step.
  LambNorms (*lamb_moments_f32)(const UpdateSpan<float>&);
  LambNorms (*lamb_moments_f64)(const UpdateSpan<double>&);
};

MARTELLO_PER_ISA(extern const UpdateLoops update_loops;)

}  // namespace martello::cpu
