#include <martello/ops/finite_norm.h>

#include <martello/base/error.h>
#include <martello/ops/broadcast.h>

namespace martello {

Kernel finite_norm_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> norm_shape(const ShapeContext& c) {
  MARTELLO_CHECK(!c.in.empty(), c.where(), "the list has no tensor. Give at least one.");
  for (size_t i = 0; i < c.in.size(); ++i) {
    c.check_floating(i);
    MARTELLO_CHECK(c.in[i].dtype == c.in[0].dtype && (c.in[i].dtype == f32 || c.in[i].dtype == f64), c.where(),
                   "input ", i, " is ", c.in[i], " and the first is ", c.in[0],
                   ": all must have one dtype, f32 or f64.");
  }
  return {{Shape(), c.in[0].dtype}};
}

Cost norm_cost(std::span<const TensorSpec> in, std::span<const TensorSpec>, const Attrs&) {
  Cost cost;
  for (const TensorSpec& t : in) cost.bytes += static_cast<double>(t.shape.num_elements() * size_of(t.dtype));
  return cost;
}

}  // namespace

// A host op: it acts on the run, so it is neither merged nor moved behind a write.
constinit const OpDef op_finite_norm = {
    .name = "finite_norm",
    .doc = "norm = sqrt(sum of x^2 over all inputs); the run writes nothing when an element is NaN or infinite",
    .inputs = {"xs..."},
    .outputs = {"norm"},
    .shape = norm_shape,
    .gradient = not_differentiable,
    .cpu = finite_norm_cpu,
    .effect = Effect::host,
    .rows = Rows::reduced,
    .cost = norm_cost,
    .family = "Optimizer updates",
};

Tensor finite_norm(const TensorList& xs, Name name) {
  std::vector<Operand> in;
  for (const Tensor& x : xs) in.emplace_back(x, name.line());
  return add_op(op_finite_norm, in, name);
}

}  // namespace martello
