#pragma once
#include <martello/kernel/cpu/elementwise.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/internal/plain_loops.h>

// What the tables of element-wise ops are made with.
namespace martello {

// A program over all inputs of a node, which broadcast to `computed`, into all its outputs.
Kernel program_kernel(const KernelPlan& plan, const cpu::ElementwiseProgram& program, const Shape& computed,
                      const std::optional<cpu::Reduction>& reduction = std::nullopt);
// A formula over all inputs of a node, run as a program of one instruction: the same code as in a fused chain, so the
// same bits.
Kernel formula_kernel(const KernelPlan& plan, const cpu::Formula& formula, const std::vector<double>& parameters = {});

template <const cpu::Formula& formula>
Kernel formula_cpu(const KernelPlan& plan) {
  return formula_kernel(plan, formula);
}
// Floating by the formula, the other dtypes by plain loops.
template <const cpu::Formula& formula, const PlainLoops& loops>
Kernel formula_or_loops_cpu(const KernelPlan& plan) {
  return is_floating(plan.in.back().dtype) ? formula_kernel(plan, formula) : loops.plan(plan);
}
template <const PlainLoops& loops>
Kernel loops_cpu(const KernelPlan& plan) {
  return loops.plan(plan);
}

using GradientFn = TensorList (*)(const GradContext&);

// The facts that element-wise ops share; a table adds what differs.
constexpr OpDef elementwise_op(const char* name, const char* doc, NameList inputs, GradientFn gradient) {
  return {.name = name,
          .doc = doc,
          .inputs = inputs,
          .outputs = {"y"},
          .attrs = &attrs_type<NoAttrs>,
          .gradient = gradient,
          .rows = Rows::same,
          .rows_of = elementwise_rows,
          .broadcasts = true,
          .cost = elementwise_cost};
}

// y = formula(x) of a floating x.
template <const cpu::Formula& formula>
constexpr OpDef formula_op(const char* name, const char* doc, const char* family, GradientFn gradient) {
  OpDef op = elementwise_op(name, doc, {"x"}, gradient);
  op.shape = floating_shape;
  op.cpu = formula_cpu<formula>;
  op.formula = &formula;
  op.in_place = {{{0, 0}}};
  op.family = family;
  return op;
}

}  // namespace martello
