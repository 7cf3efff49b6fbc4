#include <martello/ops/cond.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/bodies.h>

#include <algorithm>

namespace martello {

Kernel cond_cpu(const KernelPlan&);

namespace {

using internal::inside;

struct Branch {
  const Subgraph& body;
  size_t first, count;  // inputs of the op
};

Branch then_branch(const CondAttrs& a) { return {a.then_body, 1, static_cast<size_t>(a.then_inputs)}; }
Branch else_branch(const CondAttrs& a) {
  return {a.else_body, 1 + static_cast<size_t>(a.then_inputs), a.else_body.inputs().size()};
}

std::vector<NodeOutput> outputs_of_branch(const Branch& branch, const ShapeContext& c) {
  const auto values = c.values.empty() ? c.values : c.values.subspan(branch.first, branch.count);
  return internal::outputs_with(c, branch.body, c.in.subspan(branch.first, branch.count), values, "a branch");
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
  const auto x = outputs_of_branch(then_branch(a), c), y = outputs_of_branch(else_branch(a), c);
  MARTELLO_CHECK(x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), internal::fit), c.where(),
                 "then gives ", internal::text_of(x), " but else gives ", internal::text_of(y),
                 ". Both need the same dtypes and shapes.");
  std::vector<TensorSpec> outputs;
  for (size_t i = 0; i < x.size(); ++i) {
    const Shape shape =
        internal::more_known(internal::known_outside(x[i].shape, c.in), internal::known_outside(y[i].shape, c.in));
    outputs.push_back({.shape = shape, .dtype = x[i].dtype});
  }
  return outputs;
}

// The dearer branch's.
Cost cond_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
  const auto& a = attrs.get<CondAttrs>();
  const auto cost = [&](const Branch& branch) {
    return internal::cost_of(branch.body, in.subspan(branch.first, branch.count));
  };
  const Cost x = cost(then_branch(a)), y = cost(else_branch(a));
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
  internal::check_repeatable(c, then_built.body, "a branch");
  internal::check_repeatable(c, else_built.body, "a branch");
  const TensorList grads = add_cond(c.input(0), then_built, else_built, "cond");
  for (size_t i = 0; i < xs.size(); ++i) result[place[i]] = grads[i];
  return result;
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
      return with_line(line, [&] { return internal::finish_body(ys, where, "a branch"); });
    });
  };
  const BuiltSubgraph then_built = built(then_fn), else_built = built(else_fn);
  return add_cond(pred, then_built, else_built, name);
}

}  // namespace martello
