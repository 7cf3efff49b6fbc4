#pragma once
#include <martello/kernel/cpu/engine.h>
#include <martello/kernel/cpu/vec_isa.h>

namespace martello::cpu::MARTELLO_ISA {

// Items [chunk * items_per_chunk, ...) of a step.
template <class T>
void reduce_chunk(const ReduceStep& step, int64_t chunk);

}  // namespace martello::cpu::MARTELLO_ISA
