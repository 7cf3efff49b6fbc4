// Nodes that a simpler one can stand for; the rules and their `before => after` are in simplify_shapes.cc and
// simplify_arithmetic.cc.
#include <martello/ops/reshape.h>
#include <martello/passes/internal/simplify_rules.h>

namespace martello {
namespace internal {

bool are_alike(Tensor a, Tensor b) {
  const NodeOutput &x = output_of(a), &y = output_of(b);
  return x.dtype == y.dtype && x.shape == y.shape && x.has_dynamic_rows == y.has_dynamic_rows;
}

const OpNode* find_inner(Tensor t, const OpDef& def) {
  return t.node()->def == &def && t.node()->controls.empty() ? t.node() : nullptr;
}

bool is_static(Tensor t) { return output_of(t).shape.is_known() && !has_dynamic_rows(t); }

bool becomes_reshape(Rewrite& rewrite, OpNode& node, Tensor x) {
  return rewrite.become(node, op_reshape, {x}, Attrs(ReshapeAttrs{node.outputs[0].shape}));
}

}  // namespace internal

bool simplify(PlanGraph& plan) {
  std::vector<internal::Rewrite::Rule> rules;
  for (const auto& table : {internal::shape_rules(), internal::arithmetic_rules()})
    rules.insert(rules.end(), table.begin(), table.end());
  return internal::Rewrite(plan).run(rules);
}

}  // namespace martello
