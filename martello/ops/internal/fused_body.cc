#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/internal/fused_body.h>

#include <algorithm>
#include <map>

namespace martello::internal {
namespace {

using cpu::ElementwiseArg;

std::vector<OpNode*> body_nodes(const Subgraph& body) {
  std::vector<OpNode*> roots;
  for (const Tensor& t : body.outputs()) roots.push_back(t.node());
  return reachable_from(body.graph().impl(), roots);
}

bool is_scalar_constant(const OpNode& node) {
  return node.def == &op_constant && node.outputs[0].shape.rank() == 0 && node.outputs[0].dtype != bf16 &&
         node.outputs[0].dtype != f16;
}

void check_node(const ShapeContext& c, const OpNode& node) {
  const bool is_known = node.def == &op_arg || is_scalar_constant(node) || is_fusable(node);
  MARTELLO_CHECK(is_known, c.where(), "body node '", node.name, "' (", node.def->name,
                 ") is neither element-wise in f32 or f64 nor a scalar constant.");
}

// Every node of a body computes in the same dtype.
void check_computing_dtype(const ShapeContext& c, const std::vector<OpNode*>& nodes) {
  const OpNode* first = nullptr;
  for (const OpNode* node : nodes) {
    if (node->def == &op_arg || node->def == &op_constant || !find_computing_dtype(*node)) continue;
    if (!first) first = node;
    MARTELLO_CHECK(*find_computing_dtype(*node) == *find_computing_dtype(*first), c.where(), "body node '", first->name,
                   "' computes in ", *find_computing_dtype(*first), " but '", node->name, "' in ",
                   *find_computing_dtype(*node), ". One body computes in one dtype.");
  }
}

void check_sizes(const ShapeContext& c, const Subgraph& body, size_t nodes) {
  MARTELLO_CHECK(!body.is_null() && !body.outputs().empty(), c.where(), "has no body, or one without outputs.");
  MARTELLO_CHECK(body.inputs().size() == c.in.size() && !c.in.empty(), c.where(), "has ", c.in.size(),
                 " inputs, its body ", body.inputs().size(), ".");
  MARTELLO_CHECK(nodes <= kMaxFusedNodes && c.in.size() <= kMaxFusedInputs && body.outputs().size() <= kMaxFusedOutputs,
                 c.where(), "has ", nodes, " nodes, ", c.in.size(), " inputs and ", body.outputs().size(),
                 " outputs; at most ", kMaxFusedNodes, ", ", kMaxFusedInputs, " and ", kMaxFusedOutputs, " fit.");
}

void check_inputs(const ShapeContext& c, const Subgraph& body) {
  for (size_t i = 0; i < c.in.size(); ++i)
    MARTELLO_CHECK(c.in[i].dtype == body.inputs()[i].dtype(), c.where(), "input ", i, " is ", c.in[i].str(),
                   " but the body takes ", body.inputs()[i].dtype(), ".");
}

Shape shape_of(const ShapeContext& c, const OpNode& node, const std::map<const OpNode*, Shape>& known) {
  Shape shape;
  for (const Tensor& t : node.inputs) {
    const auto both = broadcast(shape, known.at(t.node()));
    MARTELLO_CHECK(both, c.where(), "in body node '", node.name, "' ", shape, " does not broadcast with ",
                   known.at(t.node()), ".");
    shape = *both;
  }
  return shape;
}

}  // namespace

std::vector<Shape> body_shapes(const ShapeContext& c, const Subgraph& body) {
  check_sizes(c, body, 0);
  check_inputs(c, body);
  const std::vector<OpNode*> nodes = body_nodes(body);
  const auto computes = [](const OpNode* n) { return n->def != &op_arg && n->def != &op_constant; };
  check_sizes(c, body, static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), computes)));
  std::map<const OpNode*, Shape> known;
  for (size_t i = 0; i < c.in.size(); ++i) known[body.inputs()[i].node()] = c.in[i].shape;
  for (const OpNode* node : nodes) {
    check_node(c, *node);
    MARTELLO_CHECK(node->def != &op_arg || known.contains(node), c.where(), "body argument '", node->name,
                   "' is not an input of the body.");
    if (node->def != &op_arg) known[node] = shape_of(c, *node, known);
  }
  check_computing_dtype(c, nodes);
  std::vector<Shape> shapes;
  for (const Tensor& t : body.outputs()) shapes.push_back(known.at(t.node()));
  return shapes;
}

cpu::ElementwiseProgram body_program(const Subgraph& body) {
  cpu::ElementwiseProgram program;
  std::map<const OpNode*, ElementwiseArg> args;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const Tensor x = body.inputs()[i];
    program.input_dtypes.push_back(x.dtype());
    if (kFloatingDTypes.has(x.dtype())) program.dtype = x.dtype();
    args[x.node()] = ElementwiseArg::input(static_cast<int>(i));
  }
  for (const OpNode* node : body_nodes(body)) {
    if (node->def == &op_arg) continue;
    if (node->def == &op_constant) {
      args[node] = ElementwiseArg::constant(node->attrs.get<ConstantAttrs>().value.at(0));
      continue;
    }
    if (const auto dtype = find_computing_dtype(*node)) program.dtype = *dtype;
    cpu::ElementwiseInstr instr{.formula = node->def->formula};
    for (size_t i = 0; i < node->inputs.size(); ++i) instr.args[i] = args.at(node->inputs[i].node());
    if (node->def->formula_parameters) {
      const std::vector<double> p = node->def->formula_parameters(node->attrs);
      std::copy(p.begin(), p.end(), instr.p);
    }
    args[node] = ElementwiseArg::value(static_cast<int>(program.instrs.size()));
    program.instrs.push_back(instr);
  }
  for (const Tensor& t : body.outputs()) program.outputs.push_back({args.at(t.node()), t.dtype()});
  return program;
}

}  // namespace martello::internal
