// Values that do not depend on the run:
//   %y = add(%const, %const_1)   =>  %y = constant()
//   %s = shape(%x), x [2, 3]     =>  %s = constant() {value=i64[2](2, 3)}
//   %y = reshape(%x, %const)     =>  %y = reshape(%x) {shape=[...]}
#include <martello/graph/core_ops.h>
#include <martello/ops/axes.h>
#include <martello/ops/cast.h>
#include <martello/ops/like.h>
#include <martello/ops/reshape.h>
#include <martello/passes/internal/fold.h>

#include <algorithm>

namespace martello {
namespace {

using internal::Rewrite;

bool becomes_constant(Rewrite& rewrite, OpNode& node, HostTensor value) {
  return rewrite.become(node, op_constant, {}, Attrs(ConstantAttrs{std::move(value)}));
}

// shape(x), shape(x)[0] * 4 ...  =>  constant
bool known_elements(Rewrite& rewrite, OpNode& node) {
  if (node.def == &op_constant || !internal::is_pure(node) || node.outputs.size() != 1) return false;
  auto value = internal::known_elements(node.outputs[0]);
  return value && becomes_constant(rewrite, node, std::move(*value));
}

// zeros_like(x)  =>  fill
bool filled_like(Rewrite& rewrite, OpNode& node) {
  const bool is_zeros = node.def == &op_zeros_like, is_ones = node.def == &op_ones_like;
  if (!is_zeros && !is_ones) return false;
  const NodeOutput& out = node.outputs[0];
  if (!out.shape.is_known() || out.has_dynamic_rows) return false;
  return rewrite.become(node, op_fill, {}, Attrs(FillAttrs{out.shape, out.dtype, is_ones ? 1.0 : 0.0}));
}

// size_of(x) {dtype=f32}  =>  constant
bool size_of_known(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_size_of) return false;
  const NodeOutput& x = output_of(node.inputs[0]);
  if (!x.shape.is_known() || x.has_dynamic_rows) return false;
  const auto& attrs = node.attrs.get<SizeOfAttrs>();
  const auto marked = internal::marked_axes(attrs.axes, x.shape.rank());
  Shape counted;
  for (size_t i = 0; i < marked.size(); ++i)
    if (marked[i]) counted.push_back(x.shape.symbolic()[i]);
  const auto size = static_cast<double>(counted.num_elements());
  return becomes_constant(rewrite, node, HostTensor::full(Shape(), attrs.dtype, size));
}

// op(constants)  =>  constants, one per output
bool constant_inputs(Rewrite& rewrite, OpNode& node) {
  HostTensors values = internal::evaluate(node);
  if (values.empty()) return false;
  for (size_t i = 1; i < values.size(); ++i) {
    const Tensor made = rewrite.add(node, str(i), op_constant, {}, Attrs(ConstantAttrs{std::move(values[i])}));
    rewrite.forward_output(node.output(static_cast<int>(i)), made);
  }
  node.outputs.resize(1);
  return becomes_constant(rewrite, node, std::move(values[0]));
}

// reshape(x, sizes), the result's shape known  =>  reshape(x) {shape}: an alias of x alone
bool static_reshape(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_reshape || node.inputs.size() == 1) return false;
  const NodeOutput& out = node.outputs[0];
  if (!out.shape.is_known() || out.has_dynamic_rows || has_dynamic_rows(node.inputs[0])) return false;
  return rewrite.become(node, op_reshape, {node.inputs[0]}, Attrs(ReshapeAttrs{out.shape}));
}

constexpr Rewrite::Rule kRules[] = {
    {"known_elements", known_elements},   {"filled_like", filled_like},       {"size_of_known", size_of_known},
    {"constant_inputs", constant_inputs}, {"static_reshape", static_reshape},
};

}  // namespace

bool fold_constants(PlanGraph& plan) { return Rewrite(plan).run(kRules); }

}  // namespace martello
