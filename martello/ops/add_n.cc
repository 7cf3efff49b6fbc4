#include <martello/base/error.h>
#include <martello/ops/add_n.h>
#include <martello/ops/broadcast.h>

namespace martello {

Kernel add_n_cpu(const KernelPlan&);  // add_n_cpu.cc

namespace {

// What is known of two shapes that must be equal; nothing when they are not.
std::optional<Shape> merged(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return std::nullopt;
  std::vector<int64_t> dims = a.symbolic();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t other = b.symbolic()[i];
    if (dims[i] >= 0 && other >= 0 && dims[i] != other) return std::nullopt;
    if (dims[i] < 0 && other >= 0) dims[i] = other;
  }
  return Shape(std::move(dims));
}

std::vector<TensorSpec> add_n_shape(const ShapeContext& c) {
  MARTELLO_CHECK(!c.in.empty(), c.where(), "has 0 inputs: the shape of an empty sum is not known. Give at least 1.");
  check_dtypes(c, kNumericDTypes);
  Shape shape = c.in[0].shape;
  for (size_t i = 1; i < c.in.size(); ++i) {
    const auto both = merged(shape, c.in[i].shape);
    MARTELLO_CHECK(both, c.where(), input_name(c, 0), " is ", shape, " but ", input_name(c, i), " is ", c.in[i].shape,
                   ". Shapes must be equal; use + to broadcast.");
    shape = *both;
  }
  return {{.shape = shape, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_add_n = {
    .name = "add_n",
    .doc = "y = xs[0] + xs[1] + ..., from left to right",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = add_n_shape,
    .gradient = [](const GradContext& c) { return TensorList(std::vector<Tensor>(c.inputs.size(), c.grad(0))); },
    .cpu = add_n_cpu,
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = "Element-wise arithmetic",
};

Tensor add_n(TensorList xs, Name name) {
  std::vector<Operand> in;
  for (const Tensor& x : xs) in.emplace_back(x, name.line());
  return add_op(op_add_n, in, name);
}

}  // namespace martello
