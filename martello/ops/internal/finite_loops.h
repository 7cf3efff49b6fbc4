#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <cstdint>

// A chunk of finite_norm. Compiled for each instruction-set level from finite_norm_isa.cc.
namespace martello::cpu {

struct FiniteSum {
  double squares = 0;
  bool is_finite = true;  // every element; the sum itself may still overflow in f64
};

struct FiniteLoops {
  FiniteSum (*f32)(const float* x, int64_t count);
  FiniteSum (*f64)(const double* x, int64_t count);
};

MARTELLO_PER_ISA(extern const FiniteLoops finite_loops;)

}  // namespace martello::cpu
