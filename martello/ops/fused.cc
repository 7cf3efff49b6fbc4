#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/fused.h>
#include <martello/ops/internal/fused_body.h>

#include <algorithm>

namespace martello {

Kernel fused_cpu(const KernelPlan&);  // fused_cpu.cc

namespace {

std::vector<TensorSpec> fused_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<FusedAttrs>();
  MARTELLO_CHECK(attrs.reduction == FusedReduction::none, c.where(), "has a reduction. That is op fused_reduce.");
  const std::vector<Shape> shapes = internal::body_shapes(c, attrs.body);
  const Shape computed = broadcast_shapes(c);
  std::vector<TensorSpec> out;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool is_whole = shapes[i] == computed || !shapes[i].is_known() || !computed.is_known();
    MARTELLO_CHECK(is_whole, c.where(), "output ", i, " is ", shapes[i], " but the inputs broadcast to ", computed,
                   ". Every output has that shape.");
    out.push_back({.shape = computed, .dtype = attrs.body.outputs()[i].dtype()});
  }
  return out;
}

std::vector<TensorSpec> fused_reduce_shape(const ShapeContext& c) {
  const auto& attrs = c.attrs<FusedAttrs>();
  MARTELLO_CHECK(attrs.reduction != FusedReduction::none, c.where(), "has no reduction. That is op fused.");
  const std::vector<Shape> shapes = internal::body_shapes(c, attrs.body);
  const DType dtype = attrs.body.outputs()[0].dtype();
  MARTELLO_CHECK(shapes.size() == 1 && kFloatingDTypes.has(dtype), c.where(), "reduces a body of ", shapes.size(),
                 " outputs, the first ", dtype, ". A reduction takes one in f32 or f64.");
  const TensorSpec computed[] = {{.shape = broadcast_shapes(c), .dtype = dtype}};
  const ShapeContext of_result{.op = c.op, .in = computed, .attributes = c.attributes};
  const std::vector<bool> marked = internal::check_axes(of_result, 0, attrs.axes);
  return {{.shape = internal::reduced_shape(computed[0].shape, marked, attrs.keep_dims), .dtype = dtype}};
}

// Rows stay rows unless axis 0 is reduced.
Rows fused_reduce_rows(const ShapeContext& c, size_t i) {
  if (elementwise_rows(c, i) == Rows::refused) return Rows::refused;
  const auto marked = internal::marked_axes(c.attrs<FusedAttrs>().axes, broadcast_shapes(c).rank());
  return !marked.empty() && marked[0] ? Rows::reduced : Rows::same;
}

Cost fused_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs& attrs) {
  Cost cost = elementwise_cost(in, out, attrs);
  double elements = 0;
  for (const auto* list : {&in, &out})
    for (const TensorSpec& spec : *list) elements = std::max(elements, static_cast<double>(spec.shape.num_elements()));
  cost.flops = elements * static_cast<double>(attrs.get<FusedAttrs>().body.graph().size());
  return cost;
}

constexpr OpDef fused_op(const char* name, const char* doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {"xs..."},
          .outputs = {"ys..."},
          .attrs = &attrs_type<FusedAttrs>,
          .gradient = not_differentiable,
          .cpu = fused_cpu,
          .broadcasts = true,
          .cost = fused_cost,
          .family = "Made by passes"};
}

constexpr OpDef whole_op() {
  OpDef op = fused_op("fused", "ys = a body of element-wise ops of xs");
  op.shape = fused_shape;
  op.in_place = {{{0, 0}, {1, 0}, {2, 0}, {3, 0}}};
  op.rows = Rows::same;
  op.rows_of = elementwise_rows;
  return op;
}

constexpr OpDef reduce_op() {
  OpDef op = fused_op("fused_reduce", "y = a body of element-wise ops of xs, reduced over axes");
  op.shape = fused_reduce_shape;
  op.rows = Rows::reduced;
  op.rows_of = fused_reduce_rows;
  return op;
}

}  // namespace

constinit const OpDef op_fused = whole_op();
constinit const OpDef op_fused_reduce = reduce_op();

std::vector<std::string> enum_names(FusedReduction) { return {"none", "sum", "mean", "max", "min", "prod"}; }

std::optional<DType> find_computing_dtype(const OpNode& node) {
  if (kFloatingDTypes.has(node.outputs[0].dtype)) return node.outputs[0].dtype;
  for (const Tensor& x : node.inputs)
    if (kFloatingDTypes.has(x.dtype())) return x.dtype();
  return std::nullopt;
}

bool is_fusable(const OpNode& node) {
  if (node.def->formula == nullptr || node.outputs.size() != 1 || !node.controls.empty()) return false;
  const DType y = node.outputs[0].dtype;
  const auto dtype = find_computing_dtype(node);
  // bf16 is only written: nothing in a body reads it. u8 is only converted: an op that computes with it has u8 or bool
  // as its result.
  const auto is_taken = [&](const Tensor& x) {
    return x.dtype() == boolean || x.dtype() == dtype || (x.dtype() == u8 && y == dtype);
  };
  return (y == boolean || y == dtype || (y == bf16 && dtype == f32)) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), is_taken);
}

TensorList fused(const TensorList& xs, FusedAttrs attrs, Name name) {
  const OpDef& def = attrs.reduction == FusedReduction::none ? op_fused : op_fused_reduce;
  std::vector<Operand> in;
  for (const Tensor& x : xs) in.emplace_back(x, name.line());
  return outputs_of(add_operation(def, in, Attrs(std::move(attrs)), name));
}

}  // namespace martello
