#pragma once
#include <martello/kernel/cpu/elementwise.h>
#include <martello/kernel/cpu/engine.h>
#include <martello/tensor/buffer.h>

#include <vector>

namespace martello::cpu {

// A program as threaded code. Operands: inputs, constants, slots, outputs.
struct ElementwiseCode {
  std::vector<Instr> code, streaming_code;
  std::vector<Instr> narrow_streaming_code;  // streams bf16 only; empty where no output is bf16
  std::vector<Operand> operands;             // constants have their addresses
  Buffer constants;
  int first_slot = 0, slot_count = 0, first_output = 0;
};

// Refuses a malformed program.
void check_program(const ElementwiseProgram& program);
ElementwiseCode make_code(const ElementwiseProgram& program, const Engine& engine, Isa isa);

}  // namespace martello::cpu
