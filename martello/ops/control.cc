#include <martello/ops/control.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>

namespace martello {

Kernel host_call_cpu(const KernelPlan&);
Kernel print_cpu(const KernelPlan&);
Kernel assert_that_cpu(const KernelPlan&);
Kernel identity_cpu(const KernelPlan&);

namespace {

// Sizes of outputs as numbers or places in the inputs.
class OutputSizes {
 public:
  OutputSizes(const TensorList& inputs, const std::string& where) : in_(inputs), where_(where) {}

  void add(HostCallAttrs& a, const TensorSpec& output) const {
    a.dtypes.push_back(static_cast<int>(output.dtype));
    a.ranks.push_back(output.shape.rank());
    for (int axis = 0; axis < output.shape.rank(); ++axis) {
      const int64_t size = internal::dim_of(output.shape, axis);
      const auto [input, input_axis] = size >= 0 ? std::pair(-1, -1) : source_of(output, axis);
      a.sizes.push_back(size >= 0 ? size : kUnknown);
      a.inputs.push_back(input);
      a.axes.push_back(input_axis);
    }
  }

 private:
  std::pair<int, int> source_of(const TensorSpec& output, int axis) const {
    const int64_t symbol = internal::dim_of(output.shape, axis);
    for (size_t i = 0; symbol < kUnknown && i < in_.size(); ++i)
      for (int a = 0; a < in_[i].rank(); ++a)
        if (internal::dim_of(in_[i].shape(), a) == symbol) return {static_cast<int>(i), a};
    const bool is_batch = axis == 0 && symbol == kUnknown && !in_.empty() && in_[0].rank() > 0;
    MARTELLO_CHECK(is_batch, where_, "dimension ", axis, " of output ", output,
                   " is unknown and is no dimension of an "
                   "input. Give its size, or take it from the shape of an input.");
    return {0, 0};
  }

  const TensorList& in_;
  const std::string& where_;
};

// Attributes may come from a text.
void check_lists(const ShapeContext& c, const HostCallAttrs& a) {
  size_t sizes = 0;
  bool is_ok = a.dtypes.size() == a.ranks.size();
  for (int rank : a.ranks) {
    is_ok = is_ok && rank >= 0;
    sizes += is_ok ? static_cast<size_t>(rank) : 0;
  }
  for (int dtype : a.dtypes) is_ok = is_ok && dtype >= 0 && dtype < kDTypes;
  MARTELLO_CHECK(is_ok && a.sizes.size() == sizes && a.inputs.size() == sizes && a.axes.size() == sizes, c.where(),
                 "its attributes do not describe its outputs: ", a.ranks.size(), " ranks, ", a.dtypes.size(),
                 " dtypes, ", a.sizes.size(), " sizes.");
}

int64_t output_size(const ShapeContext& c, const HostCallAttrs& a, size_t i) {
  if (a.sizes[i] >= 0) return a.sizes[i];
  const int input = a.inputs[i], axis = a.axes[i];
  const bool exists = input >= 0 && static_cast<size_t>(input) < c.in.size() && axis >= 0 &&
                      axis < c.in[static_cast<size_t>(input)].shape.rank();
  MARTELLO_CHECK(exists, c.where(), "a size of an output is taken from dimension ", axis, " of input ", input,
                 ", which does not exist.");
  return internal::dim_of(c.in[static_cast<size_t>(input)].shape, axis);
}

std::vector<TensorSpec> host_call_shape(const ShapeContext& c) {
  const auto& a = c.attrs<HostCallAttrs>();
  MARTELLO_CHECK(!a.fn.is_null(), c.where(), "has no function. Use host_call() to give it one.");
  check_lists(c, a);
  std::vector<TensorSpec> outputs;
  size_t next = 0;
  for (size_t i = 0; i < a.ranks.size(); ++i) {
    TensorSpec spec{.dtype = static_cast<DType>(a.dtypes[i])};
    for (int axis = 0; axis < a.ranks[i]; ++axis) spec.shape.push_back(output_size(c, a, next++));
    outputs.push_back(std::move(spec));
  }
  return outputs;
}

std::vector<TensorSpec> placeholder_with_default_shape(const ShapeContext& c) {
  const Shape& shape = c.attrs<PlaceholderWithDefaultAttrs>().shape;
  internal::check_same_shape(c, "x", c.in[0].shape, "shape", shape);
  return {{.shape = shape, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_host_call = {
    .name = "host_call",
    .doc = "outputs = fn(inputs), a C++ function called in every run",
    .inputs = {"inputs..."},
    .outputs = {"outputs..."},
    .attrs = &attrs_type<HostCallAttrs>,
    .shape = host_call_shape,
    .gradient = not_differentiable,
    .cpu = host_call_cpu,
    .effect = Effect::host,
    .family = "Control and state",
};

constinit const OpDef op_print = {
    .name = "print",
    .doc = "y = x; writes x to the log",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PrintAttrs>,
    .shape = same_shape,
    // dx = dy
    .gradient = [](const GradContext& c) { return TensorList{c.grad(0)}; },
    .cpu = print_cpu,
    .in_place = {{{0, 0}}},
    .effect = Effect::host,
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = "Control and state",
    .is_pass_through = true,
};

constinit const OpDef op_assert_that = {
    .name = "assert_that",
    .doc = "an error of the run unless every element of `condition` is true",
    .inputs = {"condition", "data..."},
    .attrs = &attrs_type<AssertAttrs>,
    .shape =
        [](const ShapeContext& c) {
          c.check_dtype(0, boolean);
          return std::vector<TensorSpec>();
        },
    .gradient = no_gradient,
    .cpu = assert_that_cpu,
    .effect = Effect::host,
    .rows = Rows::reduced,
    .family = "Control and state",
};

// In a plan it is an identity, or gone because it is fed.
constinit const OpDef op_placeholder_with_default = {
    .name = "placeholder_with_default",
    .doc = "y = x, unless another value is fed",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<PlaceholderWithDefaultAttrs>,
    .shape = placeholder_with_default_shape,
    // dx = dy
    .gradient = [](const GradContext& c) { return TensorList{c.grad(0)}; },
    .cpu = identity_cpu,
    .is_alias = true,
    .family = "Sources",
};

TensorList host_call(const TensorList& inputs, const std::vector<TensorSpec>& outputs, HostFunction fn, Name name) {
  const SourceLine line = LineScope::effective(name.line());
  const std::string where = str("[host_call '", name.text(), "'] ");
  std::vector<Operand> in;
  for (const Tensor& t : inputs) {
    MARTELLO_CHECK(!t.is_null(), where, "a null Tensor among the inputs.\n  at ", line.str());
    in.emplace_back(t, line);
  }
  MARTELLO_CHECK(!fn.is_null(), where, "the function is null.\n  at ", line.str());
  MARTELLO_CHECK(!outputs.empty(), where, "has no outputs, so nothing could ask for the call. Return a flag.\n  at ",
                 line.str());
  HostCallAttrs attrs;
  attrs.fn = std::move(fn);
  try {
    for (const TensorSpec& output : outputs) OutputSizes(inputs, where).add(attrs, output);
  } catch (Error& e) {
    e.add_context(str("at ", line.str()));
    throw;
  }
  return outputs_of(add_operation(op_host_call, in, Attrs(std::move(attrs)), name));
}

TensorList host_call(const TensorList& inputs, const std::vector<TensorSpec>& outputs, HostFunction::Fn fn, Name name) {
  return host_call(inputs, outputs, fn ? HostFunction(std::string(name.text()), std::move(fn)) : HostFunction(), name);
}

Tensor print(Operand x, PrintAttrs attrs, Name name) { return add_op(op_print, {x}, std::move(attrs), name); }

Operation assert_that(Operand condition, std::string message, const TensorList& data, Name name) {
  std::vector<Operand> in{condition};
  for (const Tensor& t : data) in.emplace_back(t, condition.line());
  return add_operation(op_assert_that, in, Attrs(AssertAttrs{std::move(message)}), name);
}

Tensor placeholder_with_default(Operand x, Shape shape, Name name) {
  return add_op(op_placeholder_with_default, {x}, PlaceholderWithDefaultAttrs{shape.without_symbols()}, name);
}

Tensor placeholder_with_default(Operand x, Name name) {
  return placeholder_with_default(x, x.is_number() ? Shape() : x.tensor().shape(), name);
}

}  // namespace martello
