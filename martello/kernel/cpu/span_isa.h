#pragma once
#include <martello/kernel/cpu/engine.h>
#include <martello/kernel/cpu/vec_isa.h>

namespace martello::cpu::MARTELLO_ISA {

// Runs a program for the elements [begin, end) of its output.
template <class T>
void run_range(const SpanRun& run, int64_t begin, int64_t end);

}  // namespace martello::cpu::MARTELLO_ISA
