// Inference by moments that do not change, s = gamma / sqrt(variance + epsilon) by channel:
//   %y = conv2d(%x, %w)                   %n = batch_norm_inference(%y, ...)  =>  conv2d(%x, w s) + (beta - mean s)
//   %y = conv2d(%x, %w)  %z = add(%y, %b) %n = batch_norm_inference(%z, ...)  =>  conv2d(%x, w s) + (b - mean) s + beta
// The same for matmul. New nodes have constant inputs only: fold_constants() makes constants of them.
#include <martello/graph/core_ops.h>
#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>
#include <martello/ops/unary.h>
#include <martello/passes/freeze.h>
#include <martello/passes/internal/fuse.h>

#include <algorithm>

namespace martello {
namespace {

using internal::find_constant;
using internal::FuseContext;

// What a batch norm follows.
struct Product {
  OpNode* node = nullptr;  // conv2d or matmul; null: neither
  Tensor bias = {};        // null: none
};

// Its weights have one column per channel of the result, in their last dimension.
bool has_weights(const OpNode& node, DataFormat format) {
  if (node.inputs.size() != 2 || !find_constant(node.inputs[1])) return false;
  if (node.def == &op_matmul) {
    const auto& a = node.attrs.get<MatmulAttrs>();
    return node.inputs[1].rank() == 2 && !a.transpose_b && !a.widen && node.outputs[0].shape.rank() == 2;
  }
  if (node.def != &op_conv2d) return false;
  const auto& a = node.attrs.get<internal::ConvOpAttrs>();
  return a.conv.data_format == format && a.activation == LinearActivation::none && !a.widen;
}

// The constant of add(y, constant) when it has one number for each channel of y; null for any other sum.
Tensor bias_of(const OpNode& add, const Tensor& y, int axis, int64_t channels) {
  const Tensor bias = add.inputs[add.inputs[0] == y ? 1 : 0];
  const int first = y.rank() - bias.rank();
  if (!find_constant(bias) || first < 0 || first > axis) return Tensor();
  for (int i = 0; i < bias.rank(); ++i)
    if (bias.dim(i) != (first + i == axis ? channels : 1)) return Tensor();
  return bias;
}

// What `user` reads through names that layers give (identity); null when something else reads it too.
OpNode* source_of(const FuseContext& context, OpNode* user) {
  OpNode* node = user->inputs[0].node();
  for (; context.find_only_user(*node) == user; node = user->inputs[0].node()) {
    if (node->def != &op_identity) return node;
    user = node;
  }
  return nullptr;
}

Product product_of(const FuseContext& context, OpNode& norm) {
  const DataFormat format = norm.attrs.get<BatchNormAttrs>().data_format;
  OpNode* node = source_of(context, &norm);
  if (!node) return {};
  if (has_weights(*node, format)) return {node, {}};
  if (node->def != &op_add) return {};
  for (const Tensor& t : node->inputs) {
    if (!has_weights(*t.node(), format) || context.find_only_user(*t.node()) != node) continue;
    const Tensor bias = bias_of(*node, t, channel_axis(format, t.rank()), norm.inputs[1].dim(0));
    if (!bias.is_null()) return {t.node(), bias};
  }
  return {};
}

// Nodes below a batch norm's name.
class Builder {
 public:
  Builder(PlanGraph& plan, const OpNode& norm) : plan_(plan), norm_(norm) {}
  Tensor operator()(const char* name, const OpDef& def, std::vector<Tensor> inputs, Attrs attrs = Attrs()) const {
    Graph::Impl& graph = plan_.impl();
    OpNode* node =
        graph.add(def, std::move(inputs), std::move(attrs), graph.unique_name(str(norm_.name, "/", name)), norm_.line);
    node->device = norm_.device;
    return node->output(0);
  }
  Tensor shaped(const char* name, Tensor t, const Shape& shape) const {
    return t.shape() == shape ? t : (*this)(name, op_reshape, {t}, Attrs(ReshapeAttrs{shape}));
  }

 private:
  PlanGraph& plan_;
  const OpNode& norm_;
};

// gamma / sqrt(variance + epsilon)
Tensor scale_of(const Builder& add_node, const OpNode& norm) {
  const Tensor gamma = norm.inputs[1], variance = norm.inputs[4];
  const HostTensor epsilon = HostTensor::full(Shape(), variance.dtype(), norm.attrs.get<BatchNormAttrs>().epsilon);
  const Tensor e = add_node("epsilon", op_constant, {}, Attrs(ConstantAttrs{epsilon}));
  const Tensor deviation = add_node("deviation", op_sqrt, {add_node("variance", op_add, {variance, e})});
  return add_node("scale", op_divide, {gamma, deviation});
}

// (bias - mean) scale + beta
Tensor shift_of(const Builder& add_node, const OpNode& norm, Tensor bias, Tensor scale) {
  const Tensor beta = norm.inputs[2], mean = norm.inputs[3];
  if (bias.is_null()) return add_node("shift", op_subtract, {beta, add_node("center", op_multiply, {mean, scale})});
  const Tensor centered = add_node("center", op_subtract, {add_node.shaped("bias", bias, mean.shape()), mean});
  return add_node("shift", op_add, {add_node("scaled", op_multiply, {centered, scale}), beta});
}

void fold(PlanGraph& plan, OpNode& norm, const Product& product) {
  const auto attrs = norm.attrs.get<BatchNormAttrs>();
  const Builder add_node(plan, norm);
  const Tensor scale = scale_of(add_node, norm), shift = shift_of(add_node, norm, product.bias, scale);
  product.node->inputs[1] = add_node("weights", op_multiply, {product.node->inputs[1], scale});
  const int rank = norm.outputs[0].shape.rank(), axis = channel_axis(attrs.data_format, rank);
  std::vector<int64_t> dims(static_cast<size_t>(rank - axis), 1);
  dims[0] = scale.dim(0);
  norm.def = &op_add;
  norm.inputs = {product.node->output(0), add_node.shaped("shift_by_channel", shift, Shape(dims))};
  norm.attrs = Attrs();
  plan.impl().infer(norm);
}

bool can_fold(const OpNode& norm) {
  const auto is_known = [](const Tensor& t) { return find_constant(t) != nullptr; };
  const bool is_plain = norm.def == &op_batch_norm_inference && norm.inputs.size() == 5 &&
                        !norm.attrs.get<BatchNormAttrs>().relu && !norm.attrs.get<BatchNormAttrs>().narrow;
  return is_plain && std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), is_known);
}

}  // namespace

bool fold_batch_norm(PlanGraph& plan) {
  const FuseContext context(plan);
  bool changed = false;
  for (OpNode* node : context.order()) {
    if (!can_fold(*node)) continue;
    const Product product = product_of(context, *node);
    if (!product.node) continue;
    fold(plan, *node, product);
    changed = true;
  }
  if (changed) internal::drop_dead_nodes(plan);
  return changed;
}

}  // namespace martello
