#include <martello/ops/cond.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/graph/inline.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/identity.h>

#include <algorithm>

namespace martello {

Kernel cond_cpu(const KernelPlan&);

namespace {

std::string text_of(const std::vector<NodeOutput>& outputs) {
  std::vector<std::string> texts;
  for (const NodeOutput& o : outputs) texts.push_back(o.spec().str());
  return texts.size() == 1 ? texts[0] : str("(", join(texts), ")");
}

bool fit(const NodeOutput& a, const NodeOutput& b) {
  if (a.dtype != b.dtype || a.shape.rank() != b.shape.rank()) return false;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (!internal::may_be_equal(a.shape[i], b.shape[i])) return false;
  return true;
}

// Symbols that a body made have no meaning outside.
Shape known_outside(Shape shape, const ShapeContext& c) {
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t symbol = internal::dim_of(shape, i);
    const bool is_known = symbol >= 0 || std::any_of(c.in.begin(), c.in.end(), [&](const TensorSpec& in) {
                            const auto& dims = in.shape.symbolic();
                            return std::find(dims.begin(), dims.end(), symbol) != dims.end();
                          });
    if (!is_known) shape = shape.with(i, kUnknown);
  }
  return shape;
}

struct Branch {
  const Subgraph& body;
  size_t first, count;  // inputs of the op
};

Branch then_branch(const CondAttrs& a) { return {a.then_body, 1, static_cast<size_t>(a.then_inputs)}; }
Branch else_branch(const CondAttrs& a) {
  return {a.else_body, 1 + static_cast<size_t>(a.then_inputs), a.else_body.inputs().size()};
}

std::vector<NodeOutput> outputs_with(const Branch& branch, const ShapeContext& c) {
  const auto values = c.values.empty() ? c.values : c.values.subspan(branch.first, branch.count);
  const Subgraph body = with_inputs(branch.body, c.in.subspan(branch.first, branch.count), values);
  std::vector<NodeOutput> outputs;
  for (const Tensor& t : body.outputs()) {
    outputs.push_back(output_of(t));
    MARTELLO_CHECK(!outputs.back().has_dynamic_rows, c.where(), "'", t.name(), "' ", outputs.back().spec(),
                   " of a branch has a number of rows that depends on data; branches need sizes known before the run.");
  }
  return outputs;
}

void check_inputs(const ShapeContext& c, const CondAttrs& a) {
  MARTELLO_CHECK(!a.then_body.is_null() && !a.else_body.is_null(), c.where(), "a branch is missing.");
  c.check_dtype(0, boolean);
  c.check_rank(0, 0);
  const size_t inputs = 1 + a.then_body.inputs().size() + a.else_body.inputs().size();
  MARTELLO_CHECK(a.then_inputs == static_cast<int64_t>(a.then_body.inputs().size()) && c.in.size() == inputs, c.where(),
                 "its branches take ", inputs - 1, " inputs but it has ", c.in.size() - 1, ".");
}

std::vector<TensorSpec> cond_shape(const ShapeContext& c) {
  const auto& a = c.attrs<CondAttrs>();
  check_inputs(c, a);
  const auto x = outputs_with(then_branch(a), c), y = outputs_with(else_branch(a), c);
  MARTELLO_CHECK(x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), fit), c.where(), "then gives ",
                 text_of(x), " but else gives ", text_of(y), ". Both need the same dtypes and shapes.");
  std::vector<TensorSpec> outputs;
  for (size_t i = 0; i < x.size(); ++i) {
    const Shape shape = internal::more_known(known_outside(x[i].shape, c), known_outside(y[i].shape, c));
    outputs.push_back({.shape = shape, .dtype = x[i].dtype});
  }
  return outputs;
}

Cost branch_cost(const Branch& branch, std::span<const TensorSpec> in) {
  Cost total;
  const Subgraph body = with_inputs(branch.body, in.subspan(branch.first, branch.count));
  for (const auto& node : body.graph().impl().nodes) {
    std::vector<TensorSpec> node_in, node_out;
    for (const Tensor& t : node->inputs) node_in.push_back({.shape = t.shape(), .dtype = t.dtype()});
    for (const NodeOutput& o : node->outputs) node_out.push_back(o.spec());
    const auto is_known = [](const TensorSpec& s) { return s.shape.is_known(); };
    const bool has_cost = node->def->cost && std::all_of(node_in.begin(), node_in.end(), is_known) &&
                          std::all_of(node_out.begin(), node_out.end(), is_known);
    if (!has_cost) continue;
    const Cost cost = node->def->cost(node_in, node_out, node->attrs);
    total = {total.flops + cost.flops, total.bytes + cost.bytes};
  }
  return total;
}

// The dearer branch's.
Cost cond_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
  const auto& a = attrs.get<CondAttrs>();
  const Cost x = branch_cost(then_branch(a), in), y = branch_cost(else_branch(a), in);
  return {std::max(x.flops, y.flops), std::max(x.bytes, y.bytes)};
}

TensorList add_cond(const Operand& pred, const BuiltSubgraph& then_built, const BuiltSubgraph& else_built, Name name) {
  std::vector<Operand> in{pred};
  for (const auto* built : {&then_built, &else_built})
    for (const Tensor& t : built->captures) in.emplace_back(t, pred.line());
  return outputs_of(add_operation(
      op_cond, in, Attrs(CondAttrs{then_built.body, else_built.body, static_cast<int64_t>(then_built.captures.size())}),
      name));
}

Tensor inside(const Tensor& t) {
  Graph::Impl& graph = Graph::current().impl();
  return t.node()->graph == &graph ? t : graph.capture(t);
}

// d(xs) of one branch: its values are computed again from its inputs, without what acts, and differentiated. Zeros for
// what only the other branch uses.
TensorList branch_gradient(const GradContext& c, const Branch& branch, const std::vector<Tensor>& xs) {
  std::vector<Tensor> in, ys, dys, used;
  for (size_t i = 0; i < branch.count; ++i) in.push_back(inside(c.input(branch.first + i)));
  const TensorList outputs = inline_subgraph(without_actions(branch.body), in);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (c.grad(i).is_null()) continue;
    ys.push_back(outputs[i]);
    dys.push_back(inside(c.grad(i)));
  }
  for (const Tensor& x : xs)
    if (std::find(in.begin(), in.end(), inside(x)) != in.end()) used.push_back(inside(x));
  const TensorList grads = used.empty() ? TensorList() : c.builder->gradients(ys, used, dys);
  std::vector<Tensor> result;
  for (const Tensor& x : xs) {
    const auto at = std::find(used.begin(), used.end(), inside(x));
    const Tensor g = at == used.end() ? Tensor() : grads[static_cast<size_t>(at - used.begin())];
    result.push_back(g.is_null() ? zeros_like(inside(x)) : g);
  }
  return result;
}

void check_repeatable(const GradContext& c, const BuiltSubgraph& built) {
  const OpNode* action = find_action(built.body);
  MARTELLO_CHECK(!action, "[cond '", c.op.name, "'] its gradient needs '", action->name, "' (", action->def->name,
                 ") of a branch a second time, but it acts outside the graph. Move it out of the branch.");
}

// dxs = cond(pred, d(then) , d(else)). A tensor that is an input twice has its whole gradient at the first place.
TensorList cond_gradient(const GradContext& c) {
  const auto& a = c.attrs<CondAttrs>();
  std::vector<Tensor> xs, result(c.inputs.size());
  std::vector<size_t> place;
  for (size_t i = 1; i < c.inputs.size(); ++i) {
    if (!c.needed[i] || std::find(xs.begin(), xs.end(), c.input(i)) != xs.end()) continue;
    xs.push_back(c.input(i));
    place.push_back(i);
  }
  const auto built = [&](const Branch& branch) {
    return build_subgraph({}, [&](TensorList) { return branch_gradient(c, branch, xs); });
  };
  const BuiltSubgraph then_built = built(then_branch(a)), else_built = built(else_branch(a));
  check_repeatable(c, then_built);
  check_repeatable(c, else_built);
  const TensorList grads = add_cond(c.input(0), then_built, else_built, "cond");
  for (size_t i = 0; i < xs.size(); ++i) result[place[i]] = grads[i];
  return result;
}

// Refuses writes, and ties to the outputs what acts: nothing else could ask for it.
TensorList finish_branch(const TensorList& ys, const std::string& where) {
  MARTELLO_CHECK(!ys.empty(), where, "a branch gives no tensors. Return at least one.");
  for (const Tensor& y : ys)
    MARTELLO_CHECK(!y.is_null(), where, "a branch gives a null Tensor: it was never assigned.");
  const Graph::Impl& graph = Graph::current().impl();
  std::vector<Operation> actions;
  for (const auto& node : graph.nodes) {
    MARTELLO_CHECK(node->def->effect != Effect::write, where, "'", node->name, "' (", node->def->name, ") writes '",
                   node->inputs[0].name(), "' inside a branch, which is not allowed. Return the value and assign it ",
                   "outside.\n  ", node->context());
    if (acts(*node)) actions.emplace_back(node.get());
  }
  if (actions.empty()) return ys;
  ControlDependencies after(actions);
  TensorList tied;
  for (const Tensor& y : ys) tied.push_back(identity(y));
  return tied;
}

}  // namespace

constinit const OpDef op_cond = {
    .name = "cond",
    .doc = "ys = the outputs of `then_body` where pred is true, else those of `else_body`; only that body runs",
    .inputs = {"pred", "captures..."},
    .outputs = {"ys..."},
    .attrs = &attrs_type<CondAttrs>,
    .shape = cond_shape,
    .gradient = cond_gradient,
    .cpu = cond_cpu,
    .effect = Effect::host,  // a branch may print or assert
    .cost = cond_cost,
    .family = "Control and state",
};

TensorList cond(Operand pred, const std::function<TensorList()>& then_fn, const std::function<TensorList()>& else_fn,
                Name name) {
  const std::string where = str("[cond '", name.text(), "'] ");
  const SourceLine line = LineScope::effective(name.line());
  internal::get_build_context("cond", name.text(), line);
  const auto built = [&](const std::function<TensorList()>& fn) {
    return build_subgraph({}, [&](TensorList) {
      const TensorList ys = fn();
      return with_line(line, [&] { return finish_branch(ys, where); });
    });
  };
  const BuiltSubgraph then_built = built(then_fn), else_built = built(else_fn);
  return add_cond(pred, then_built, else_built, name);
}

}  // namespace martello
