#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of cast_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Between f32 and the bits of bf16.
struct CastLoops {
  void (*narrow)(const float* x, uint16_t* y, int64_t count);  // to nearest, ties to even; NaN stays NaN
  void (*widen)(const uint16_t* x, float* y, int64_t count);
};

MARTELLO_PER_ISA(extern const CastLoops bf16_loops;)

// Those of this machine.
const CastLoops& cast_loops();

}  // namespace martello::cpu
