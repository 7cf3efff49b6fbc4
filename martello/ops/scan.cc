#include <martello/ops/scan.h>

#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/bodies.h>
#include <martello/ops/variable.h>

#include <algorithm>

namespace martello {

Kernel scan_cpu(const KernelPlan&);

namespace {

using internal::inside;

struct Counts {
  size_t carried, xs, inputs, ys;
  explicit Counts(const ScanAttrs& a)
      : carried(static_cast<size_t>(a.carried)),
        xs(static_cast<size_t>(a.xs)),
        inputs(a.body.inputs().size()),
        ys(a.body.outputs().size() - carried) {}
};

void check_counts(const ShapeContext& c, const ScanAttrs& a) {
  MARTELLO_CHECK(!a.body.is_null(), c.where(), "its body is missing.");
  const auto inputs = static_cast<int64_t>(a.body.inputs().size());
  const auto outputs = static_cast<int64_t>(a.body.outputs().size());
  MARTELLO_CHECK(0 <= a.carried && a.carried <= outputs && 0 <= a.xs && a.xs <= inputs - std::min(inputs, a.carried),
                 c.where(), "carries ", a.carried, " tensors beside ", a.xs, " xs but its body takes ", inputs,
                 " and gives ", outputs, ".");
  MARTELLO_CHECK(c.in.size() == a.body.inputs().size(), c.where(), "its body takes ", inputs, " inputs but it has ",
                 c.in.size(), ".");
  MARTELLO_CHECK(a.xs > 0 || a.steps >= 0, c.where(), "has no xs, so the number of steps must be given but is ",
                 a.steps, ". Use ScanOptions::steps.");
  for (int64_t i : a.counters)
    MARTELLO_CHECK(a.carried + a.xs <= i && i < inputs && c.in[static_cast<size_t>(i)].dtype == i64, c.where(),
                   "input ", i, " is no counter of random numbers.");
}

// The first dimension that all xs have.
int64_t check_steps(const ShapeContext& c, const ScanAttrs& a) {
  const Counts n(a);
  int64_t steps = n.xs > 0 ? kUnknown : a.steps;
  for (size_t i = n.carried; i < n.carried + n.xs; ++i) {
    const Shape& x = c.in[i].shape;
    MARTELLO_CHECK(x.rank() >= 1, c.where(), "xs[", i - n.carried, "] is a scalar; steps go over a first dimension.");
    MARTELLO_CHECK(internal::may_be_equal(internal::dim_of(x, 0), steps), c.where(), "xs[", i - n.carried, "] ", x,
                   " has ", x[0], " rows but the xs before it have ", steps, ".");
    steps = internal::more_known(steps, internal::dim_of(x, 0));
  }
  return steps;
}

std::vector<TensorSpec> body_inputs(std::span<const TensorSpec> in, const ScanAttrs& a) {
  const Counts n(a);
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool is_x = n.carried <= i && i < n.carried + n.xs;
    const Shape& shape = in[i].shape;
    specs.push_back({.shape = is_x ? shape.slice(1, shape.rank()) : shape, .dtype = in[i].dtype});
  }
  return specs;
}

// Elements of captures as far as they are known; what is carried and rows of xs change.
std::vector<const std::vector<int64_t>*> capture_values(const ShapeContext& c, const ScanAttrs& a) {
  std::vector<const std::vector<int64_t>*> values(c.in.size());
  for (auto i = static_cast<size_t>(a.carried + a.xs); i < values.size(); ++i) values[i] = c.value(i);
  return values;
}

Shape stacked(int64_t steps, const Shape& of_step) {
  Shape shape(steps);
  for (int i = 0; i < of_step.rank(); ++i) shape.push_back(internal::dim_of(of_step, i));
  return shape;
}

std::vector<TensorSpec> scan_shape(const ShapeContext& c) {
  const auto& a = c.attrs<ScanAttrs>();
  check_counts(c, a);
  const Counts n(a);
  const int64_t steps = check_steps(c, a);
  const std::vector<TensorSpec> in = body_inputs(c.in, a);
  const auto given = internal::outputs_with(c, a.body, in, capture_values(c, a), "the body");
  std::vector<TensorSpec> carried, states, ys;
  for (size_t i = 0; i < given.size(); ++i) {
    const TensorSpec spec{.shape = internal::known_outside(given[i].shape, c.in), .dtype = given[i].dtype};
    if (i >= n.carried) {
      ys.push_back({.shape = stacked(steps, spec.shape), .dtype = spec.dtype});
      continue;
    }
    MARTELLO_CHECK(internal::fit(given[i], {.shape = in[i].shape, .dtype = in[i].dtype, .value = {}}), c.where(),
                   "carried tensor ", i, " is ", in[i].str(), " before a step but ", given[i].spec().str(),
                   " after it. It must keep dtype and shape.");
    carried.push_back({.shape = internal::more_known(in[i].shape, spec.shape), .dtype = spec.dtype});
    states.push_back({.shape = stacked(steps, carried.back().shape), .dtype = spec.dtype});
  }
  carried.insert(carried.end(), states.begin(), states.end());
  carried.insert(carried.end(), ys.begin(), ys.end());
  return carried;
}

Cost scan_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs& attrs) {
  const auto& a = attrs.get<ScanAttrs>();
  const Cost once = internal::cost_of(a.body, body_inputs(in, a));
  const double steps = static_cast<double>(a.xs > 0 ? in[static_cast<size_t>(a.carried)].shape[0] : a.steps);
  return {once.flops * steps, once.bytes * steps};
}

// Whether a capture counts random numbers, here or in a graph above.
bool is_counter(Tensor t) {
  const OpNode& node = *t.node();
  if (node.def == &op_variable) return node.attrs.get<VariableAttrs>().is_counter;
  const auto& inputs = node.graph->capture_inputs;
  const auto at = std::find(inputs.begin(), inputs.end(), t);
  return at != inputs.end() && is_counter(node.graph->captured[static_cast<size_t>(at - inputs.begin())]);
}

TensorList add_scan(const BuiltSubgraph& built, const TensorList& first, const TensorList& xs,
                    const ScanOptions& options, Name name) {
  std::vector<Operand> in;
  ScanAttrs attrs{built.body, static_cast<int64_t>(first.size()), static_cast<int64_t>(xs.size()), options.steps,
                  options.reverse};
  for (const TensorList* list : {&first, &xs})
    for (const Tensor& t : *list) in.emplace_back(t, name.line());
  for (const Tensor& t : built.captures) {
    if (is_counter(t)) attrs.counters.push_back(static_cast<int64_t>(in.size()));
    in.emplace_back(t, name.line());
  }
  return outputs_of(add_operation(op_scan, in, Attrs(std::move(attrs)), name));
}

std::vector<TensorSpec> row_specs(const TensorList& first, const TensorList& xs, const std::string& where) {
  std::vector<TensorSpec> specs;
  for (const Tensor& t : first) {
    MARTELLO_CHECK(!t.is_null(), where, "a first carried tensor is null: it was never assigned.");
    specs.push_back({.shape = t.shape(), .dtype = t.dtype(), .name = "carried"});
  }
  for (const Tensor& t : xs) {
    MARTELLO_CHECK(!t.is_null(), where, "one of xs is a null Tensor: it was never assigned.");
    MARTELLO_CHECK(t.rank() >= 1, where, "'", t.name(), "' of xs is a scalar; steps go over a first dimension.");
    specs.push_back({.shape = t.shape().slice(1, t.rank()), .dtype = t.dtype(), .name = "x"});
  }
  return specs;
}

TensorList part(const TensorList& list, size_t first, size_t count) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
  return std::vector<Tensor>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

// The gradient as another scan, in the other direction. Its step gets the gradients of what the step carried out and
// the sums so far for captures; what was carried in, the rows of xs and those of dys are its xs.
class ScanGradient {
 public:
  explicit ScanGradient(const GradContext& c) : c_(c), a_(c.attrs<ScanAttrs>()), n_(a_) {
    for (size_t i = 0; i < n_.inputs; ++i) {
      if (!is_floating(c.input(i).dtype())) continue;
      if (i < n_.carried) carried_.push_back(i);
      else if (c.needed[i]) (i < n_.carried + n_.xs ? rows_ : captures_).push_back(i);
    }
    for (size_t i = 0; i < n_.ys; ++i)
      if (!c.grad(2 * n_.carried + i).is_null()) ys_.push_back(i);
    for (size_t i : carried_) has_state_grad_.push_back(!c.grad(n_.carried + i).is_null());
  }

  TensorList make() {
    TensorList first, xs = part(c_.outputs, n_.carried, n_.carried);
    for (size_t i : carried_) first.push_back(c_.grad(i).is_null() ? zeros_like(c_.output(i)) : c_.grad(i));
    for (size_t i : captures_) first.push_back(zeros_like(c_.input(i)));
    for (size_t i = 0; i < n_.xs; ++i) xs.push_back(c_.input(n_.carried + i));
    for (size_t i : ys_) xs.push_back(c_.grad(2 * n_.carried + i));
    for (size_t i = 0; i < carried_.size(); ++i)
      if (has_state_grad_[i]) xs.push_back(c_.grad(n_.carried + carried_[i]));
    const auto built = build_subgraph(row_specs(first, xs, "[scan] "), [&](TensorList in) { return step(in); });
    internal::check_repeatable(c_, built.body, "the body");
    const TensorList grads = add_scan(built, first, xs, {!a_.reverse, a_.steps}, "scan");
    std::vector<Tensor> result(n_.inputs);
    size_t at = 0;
    for (size_t i : carried_) result[i] = grads[at++];
    for (size_t i : captures_) result[i] = grads[at++];
    at = 2 * first.size();
    for (size_t i : rows_) result[i] = grads[at++];
    return result;
  }

 private:
  TensorList step(const TensorList& in) const {
    const size_t grads = carried_.size() + captures_.size();
    std::vector<Tensor> args, wanted, ys, dys;
    for (size_t i = 0; i < n_.inputs; ++i) args.push_back(i < n_.carried + n_.xs ? in[grads + i] : inside(c_.input(i)));
    const TensorList outputs = inline_subgraph(without_actions(a_.body), args);
    for (size_t i = 0; i < carried_.size(); ++i) {
      ys.push_back(outputs[carried_[i]]);
      dys.push_back(in[i]);
    }
    for (size_t i = 0; i < ys_.size(); ++i) {
      ys.push_back(outputs[n_.carried + ys_[i]]);
      dys.push_back(in[grads + n_.carried + n_.xs + i]);
    }
    for (const auto* list : {&carried_, &captures_, &rows_})
      for (size_t i : *list) wanted.push_back(args[i]);
    const TensorList made = c_.builder->gradients(ys, wanted, dys);
    TensorList result;
    size_t state = grads + n_.carried + n_.xs + ys_.size();
    for (size_t i = 0; i < wanted.size(); ++i) {
      Tensor g = made[i].is_null() ? zeros_like(wanted[i]) : made[i];
      if (i < carried_.size() && has_state_grad_[i]) g = g + in[state++];
      if (carried_.size() <= i && i < grads) g = g + in[i];
      result.push_back(g);
    }
    return result;
  }

  const GradContext& c_;
  const ScanAttrs& a_;
  Counts n_;
  std::vector<bool> has_state_grad_;                    // of each in carried_: what it was before each step
  std::vector<size_t> carried_, rows_, captures_, ys_;  // those with gradients; ys_ counts from the first of ys
};

}  // namespace

constinit const OpDef op_scan = {
    .name = "scan",
    .doc = "carried, ys[t] = body(carried, xs[t]) for every row t; states[t] is what step t was given",
    .inputs = {"inputs..."},
    .outputs = {"outputs..."},
    .attrs = &attrs_type<ScanAttrs>,
    .shape = scan_shape,
    .gradient = [](const GradContext& c) { return ScanGradient(c).make(); },
    .cpu = scan_cpu,
    .effect = Effect::host,  // the body may print or assert
    .cost = scan_cost,
    .family = "Control and state",
};

ScanStep scan(const std::function<ScanStep(TensorList carried, TensorList xs)>& body, TensorList first, TensorList xs,
              ScanOptions options, Name name) {
  const std::string where = str("[scan '", name.text(), "'] ");
  const SourceLine line = LineScope::effective(name.line());
  internal::get_build_context("scan", name.text(), line);
  const size_t carried = first.size();
  const auto specs = with_line(line, [&] { return row_specs(first, xs, where); });
  const BuiltSubgraph built = build_subgraph(specs, [&](TensorList in) {
    const ScanStep s = body(part(in, 0, carried), part(in, carried, xs.size()));
    MARTELLO_CHECK(s.carried.size() == carried, where, "is given ", carried, " carried tensors but its body gives ",
                   s.carried.size(), ".\n  at ", line.str());
    TensorList all = s.carried;
    for (const Tensor& y : s.ys) all.push_back(y);
    return with_line(line, [&] { return internal::finish_body(all, where, "the body"); });
  });
  const TensorList outputs = add_scan(built, first, xs, options, Name(name.text(), line));
  return {part(outputs, 0, carried), part(outputs, 2 * carried, outputs.size() - 2 * carried)};
}

}  // namespace martello
