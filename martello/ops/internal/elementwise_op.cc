#include <martello/base/error.h>
#include <martello/ops/internal/elementwise_op.h>

#include <algorithm>

namespace martello {
namespace {

using cpu::ElementwiseArg;
using cpu::ElementwiseKernel;

std::vector<Shape> shapes_of(std::span<const TensorSpec> specs) {
  std::vector<Shape> shapes;
  for (const TensorSpec& spec : specs) shapes.push_back(spec.shape);
  return shapes;
}

DType computing_dtype(const KernelPlan& plan) {
  const auto computes = [](const TensorSpec& spec) { return kFloatingDTypes.has(spec.dtype); };
  const auto in = std::find_if(plan.in.begin(), plan.in.end(), computes);
  if (in != plan.in.end()) return in->dtype;
  const auto out = std::find_if(plan.out.begin(), plan.out.end(), computes);
  return out != plan.out.end() ? out->dtype : f32;
}

// Inputs whose dimension 0 is that of the computed shape, so that their run-time rows are its rows.
std::vector<int> inputs_with_rows(std::span<const TensorSpec> in, const Shape& computed) {
  std::vector<int> list;
  for (size_t i = 0; i < in.size(); ++i) {
    const Shape& x = in[i].shape;
    if (x.rank() > 0 && x.rank() == computed.rank() && x[0] == computed[0]) list.push_back(static_cast<int>(i));
  }
  return list;
}

// Of this run; -1: as planned. They differ only where a row of 1 is repeated over none.
int64_t fewest_rows(const KernelRun& run, const std::vector<int>& inputs) {
  if (inputs.empty()) return -1;
  int64_t rows = run.in_rows(inputs[0]);
  for (int i : inputs) rows = std::min(rows, run.in_rows(i));
  return rows;
}

}  // namespace

Kernel program_kernel(const KernelPlan& plan, const cpu::ElementwiseProgram& program, const Shape& computed,
                      const std::optional<cpu::Reduction>& reduction) {
  const std::vector<Shape> shapes = shapes_of(plan.in);
  const ElementwiseKernel kernel(program, computed, shapes, reduction);
  const auto run_program = [kernel, with_rows = inputs_with_rows(plan.in, computed), inputs = plan.in.size(),
                            outputs = plan.out.size()](const KernelRun& run) {
    const void* in[cpu::kMaxElementwiseInputs];
    void* out[cpu::kMaxElementwiseOutputs];
    for (size_t i = 0; i < inputs; ++i) in[i] = run.in_[i].data;
    for (size_t i = 0; i < outputs; ++i) out[i] = run.out_[i].data;
    kernel.run(in, out, run.scratch, run.threads, fewest_rows(run, with_rows));
  };
  return Kernel(run_program).scratch(kernel.scratch_bytes(plan.threads));
}

Kernel formula_kernel(const KernelPlan& plan, const cpu::Formula& formula, const std::vector<double>& parameters) {
  cpu::ElementwiseProgram program{.dtype = computing_dtype(plan)};
  cpu::ElementwiseInstr instr{.formula = &formula};
  for (size_t i = 0; i < plan.in.size(); ++i) {
    program.input_dtypes.push_back(plan.in[i].dtype);
    instr.args[i] = ElementwiseArg::input(static_cast<int>(i));
  }
  std::copy(parameters.begin(), parameters.end(), instr.p);
  program.instrs.push_back(instr);
  program.outputs.push_back({ElementwiseArg::value(0), plan.out[0].dtype});
  return program_kernel(plan, program, plan.out[0].shape);
}

}  // namespace martello
