#include <martello/graph/internal/test_ops.h>
#include <martello/graph/scopes.h>

namespace martello {
namespace testing {
namespace {

struct CallAttrs {
  Subgraph body;
  bool operator==(const CallAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("body", self.body); }
};

std::vector<TensorSpec> first_input(const ShapeContext& c) { return {c.in[0]}; }

std::vector<TensorSpec> sum_shape(const ShapeContext& c) {
  c.check_same_dtype(0, 1);
  MARTELLO_CHECK(c.in[0].shape.rank() == c.in[1].shape.rank(), c.where(), "a is ", c.in[0], " but b is ", c.in[1], ".");
  return {c.in[0]};
}

std::vector<TensorSpec> halves_shape(const ShapeContext& c) {
  const int axis = c.check_axis(0, c.attrs<HalvesAttrs>().axis);
  const int64_t size = c.in[0].shape[axis];
  const Shape half = c.in[0].shape.with(axis, size < 0 ? kUnknown : size / 2);
  return {{half, c.in[0].dtype}, {half, c.in[0].dtype}};
}

std::vector<TensorSpec> call_shape(const ShapeContext& c) {
  const Subgraph& body = c.attrs<CallAttrs>().body;
  MARTELLO_CHECK(!body.is_null() && body.inputs().size() == c.in.size(), c.where(), "the body is missing or takes ",
                 "another number of inputs than ", c.in.size(), ".");
  std::vector<TensorSpec> out;
  for (const Tensor& t : body.outputs()) out.push_back({t.shape().without_symbols(), t.dtype()});
  return out;
}

}  // namespace

std::vector<std::string> enum_names(Mode) { return {"same", "valid", "odd name"}; }

bool EveryAttrs::operator==(const EveryAttrs& o) const {
  return flag == o.flag && count == o.count && big == o.big && scale == o.scale && text == o.text && dtype == o.dtype &&
         shape == o.shape && ints == o.ints && longs == o.longs && reals == o.reals && value.same_bits(o.value) &&
         body == o.body && function == o.function && mode == o.mode;
}

constinit const OpDef op_twice = {.name = "twice",
                                  .inputs = {"x"},
                                  .outputs = {"y"},
                                  .shape = first_input,
                                  .gradient = no_gradient,
                                  .rows = Rows::same};
constinit const OpDef op_sum = {
    .name = "sum", .inputs = {"a", "b"}, .outputs = {"y"}, .shape = sum_shape, .gradient = no_gradient};
constinit const OpDef op_halves = {.name = "halves",
                                   .inputs = {"x"},
                                   .outputs = {"left", "right"},
                                   .attrs = &attrs_type<HalvesAttrs>,
                                   .shape = halves_shape};
constinit const OpDef op_every = {
    .name = "every", .outputs = {"y"}, .attrs = &attrs_type<EveryAttrs>, .shape = [](const ShapeContext& c) {
      const auto& a = c.attrs<EveryAttrs>();
      return std::vector<TensorSpec>{{a.shape, a.dtype}};
    }};
constinit const OpDef op_call = {.name = "call",
                                 .inputs = {"args..."},
                                 .outputs = {"results..."},
                                 .attrs = &attrs_type<CallAttrs>,
                                 .shape = call_shape};
constinit const OpDef op_cell = {.name = "cell",
                                 .outputs = {"value"},
                                 .attrs = &attrs_type<PlaceholderAttrs>,
                                 .shape =
                                     [](const ShapeContext& c) {
                                       const auto& a = c.attrs<PlaceholderAttrs>();
                                       return std::vector<TensorSpec>{{a.shape, a.dtype}};
                                     },
                                 .effect = Effect::variable};
constinit const OpDef op_store = {.name = "store",
                                  .inputs = {"cell", "value"},
                                  .shape = [](const ShapeContext&) { return std::vector<TensorSpec>(); },
                                  .effect = Effect::write,
                                  .targets = [](const Attrs&, int) { return std::vector<int>{0}; }};

Tensor twice(Operand x, Name name) { return add_op(op_twice, {x}, name); }
Tensor sum(Operand a, Operand b, Name name) { return add_op(op_sum, {a, b}, name); }
TensorList halves(Operand x, HalvesAttrs attrs, Name name) {
  return outputs_of(add_operation(op_halves, {x}, Attrs(attrs), name));
}
Tensor every(EveryAttrs attrs, Name name) { return add_op(op_every, {}, std::move(attrs), name); }
Tensor call(const BuiltSubgraph& body, const TensorList& args, Name name) {
  std::vector<Operand> in(args.begin(), args.end());
  in.insert(in.end(), body.captures.begin(), body.captures.end());
  return add_op(op_call, in, CallAttrs{body.body}, name);
}
Tensor cell(Shape shape, Name name) { return add_op(op_cell, {}, PlaceholderAttrs{std::move(shape), f32}, name); }
Operation store(Tensor cell, Operand value, Name name) { return add_operation(op_store, {cell, value}, Attrs(), name); }

}  // namespace testing

std::span<const OpDef* const> builtin_ops() {
  using namespace testing;
  static const OpDef* const ops[] = {&op_twice, &op_sum, &op_halves, &op_every, &op_call, &op_cell, &op_store};
  return ops;
}

Tensor operator*(Operand a, Operand b) { return testing::sum(a, b, "mul"); }

}  // namespace martello
