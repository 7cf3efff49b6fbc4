#include <martello/base/error.h>
#include <martello/kernel/cpu/elementwise_code.h>

namespace martello::cpu {
namespace {

void check_arg(const ElementwiseProgram& program, const ElementwiseArg& arg, size_t values, const char* user) {
  const auto inside = [&](size_t count) { return arg.index >= 0 && static_cast<size_t>(arg.index) < count; };
  if (arg.kind == ElementwiseArg::Kind::input) {
    MARTELLO_CHECK(inside(program.input_dtypes.size()), "[elementwise '", user, "'] wants input ", arg.index, " of ",
                   program.input_dtypes.size(), ".");
  } else if (arg.kind == ElementwiseArg::Kind::value) {
    MARTELLO_CHECK(inside(values), "[elementwise '", user, "'] wants value ", arg.index, ", but only ", values,
                   " are computed before it. Put the instructions in order.");
  }
}

void check_dtype(const ElementwiseProgram& program, DType dtype, const char* what, size_t i, bool may_be_narrow) {
  const bool is_narrow = may_be_narrow && dtype == bf16 && program.dtype == f32;
  MARTELLO_CHECK(dtype == program.dtype || dtype == boolean || dtype == u8 || is_narrow, "[elementwise] ", what, " ", i,
                 " is ", dtype, " in a program that computes in ", program.dtype, ". Cast it first.");
}

}  // namespace

void check_program(const ElementwiseProgram& program) {
  MARTELLO_CHECK(program.dtype == f32 || program.dtype == f64, "[elementwise] computes in f32 or f64, not in ",
                 program.dtype, ". Cast its inputs.");
  MARTELLO_CHECK(program.instrs.size() <= kMaxElementwiseInstrs &&
                     program.input_dtypes.size() <= kMaxElementwiseInputs &&
                     program.outputs.size() <= kMaxElementwiseOutputs,
                 "[elementwise] a program of ", program.instrs.size(), " instructions, ", program.input_dtypes.size(),
                 " inputs and ", program.outputs.size(), " outputs exceeds ", kMaxElementwiseInstrs, ", ",
                 kMaxElementwiseInputs, " and ", kMaxElementwiseOutputs, ". Cut it in two.");
  MARTELLO_CHECK(!program.outputs.empty(), "[elementwise] a program has no output.");
  for (size_t i = 0; i < program.input_dtypes.size(); ++i)
    check_dtype(program, program.input_dtypes[i], "input", i, false);
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    check_dtype(program, program.outputs[i].dtype, "output", i, true);
    check_arg(program, program.outputs[i].arg, program.instrs.size(), "output");
  }
  for (size_t k = 0; k < program.instrs.size(); ++k) {
    const ElementwiseInstr& instr = program.instrs[k];
    MARTELLO_ASSERT(instr.formula, "[elementwise] instruction ", k, " has no formula.");
    for (int i = 0; i < instr.formula->arity; ++i) check_arg(program, instr.args[i], k, instr.formula->name);
  }
}

}  // namespace martello::cpu
