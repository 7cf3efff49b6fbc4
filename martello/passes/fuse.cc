// Element-wise nodes that run as one:
//   %a = add(%x, %y)  %b = exp(%a)                =>  %b = fused(%x, %y) {body: exp(add(x, y))}
//   %a = square(%x)  %s = reduce_sum(%a)          =>  %s = fused_reduce(%x) {body: square(x), reduction=sum}
//   %m = matmul(%x, %w)  %a = add(%m, %b)  relu   =>  linear(%x, %w, %b) {activation=relu}
//   %m = conv2d(%x, %w)  %a = add(%m, %b)  relu   =>  conv2d(%x, %w, %b) {activation=relu}
// and, in fuse_updates.cc, gradients with their updates; in fuse_results.cc, relu and rounding to bf16 with the op
// whose result they take; in fuse_sums.cc, sums with the op that makes one of their terms.
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/internal/conv_attrs.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/passes/internal/fuse.h>

namespace martello {
namespace internal {

FuseContext::FuseContext(const PlanGraph& plan)
    : users_(plan),
      order_(topological_order(plan.impl())),
      position_(static_cast<size_t>(plan.impl().next_id), 0),
      is_pinned_(position_.size(), false),
      is_staged_(is_pinned_),
      after_(is_pinned_.size()) {
  for (const Operation& target : plan.targets) is_pinned_[static_cast<size_t>(target.node()->id)] = true;
  for (size_t i = 0; i < order_.size(); ++i) position_[static_cast<size_t>(order_[i]->id)] = static_cast<int>(i);
  for (OpNode* node : order_) {
    const auto id = static_cast<size_t>(node->id);
    is_staged_[id] = node->def->effect == Effect::read || node->def->effect == Effect::host;
    for (const Tensor& t : node->inputs) is_staged_[id] = is_staged_[id] || is_staged(*t.node());
    if (!node->controls.empty()) is_pinned_[id] = true;
    for (OpNode* c : node->controls) {
      is_pinned_[static_cast<size_t>(c->id)] = true;
      after_[static_cast<size_t>(c->id)].push_back(node);
    }
  }
}

OpNode* FuseContext::find_only_user(OpNode& node) const {
  const auto readers = users_.of(node.output(0));
  const bool is_only = node.outputs.size() == 1 && readers.size() == 1 && !users_.is_fetched(node.output(0));
  return is_only && !is_pinned(node) && !is_pinned(*readers[0]) ? readers[0] : nullptr;
}

OpNode* FuseContext::find_follower(OpNode& node, const OpDef& def) const {
  const auto readers = users_.of(node.output(0));
  if (readers.size() != 1 || users_.is_fetched(node.output(0))) return nullptr;
  OpNode& reader = *readers[0];
  const bool is_free = !is_pinned(node) && !is_pinned(reader);
  return is_free && reader.def == &def && reader.device == node.device ? &reader : nullptr;
}

namespace {

// The bias of add(y, bias) or add(bias, y); null unless it is one number per column.
Tensor find_bias(const OpNode& add, Tensor y) {
  if (add.def != &op_add || add.outputs[0].shape != y.shape()) return Tensor();
  const Tensor bias = add.inputs[add.inputs[0] == y ? 1 : 0];
  const bool is_row = bias != y && bias.rank() == 1 && bias.dim(0) == y.dim(-1) && !has_dynamic_rows(bias);
  return is_row ? bias : Tensor();
}

// A product that takes a bias for its last dimension.
bool takes_bias(const OpNode& node) {
  if (node.inputs.size() != 2) return false;
  if (node.def == &op_matmul) return is_floating(node.outputs[0].dtype);
  return node.def == &op_conv2d && node.attrs.get<ConvOpAttrs>().conv.data_format == DataFormat::nhwc;
}

// `node`, the last of the chain, computes the product, the sum and the activation.
void become_product(PlanGraph& plan, OpNode& node, const OpNode& product, Tensor bias, LinearActivation activation) {
  if (product.def == &op_conv2d) {
    ConvOpAttrs attrs = product.attrs.get<ConvOpAttrs>();
    attrs.activation = activation;
    node.attrs = Attrs(attrs);
    node.def = &op_conv2d;
  } else {
    const auto& flags = product.attrs.get<MatmulAttrs>();
    node.attrs = Attrs(LinearAttrs{flags.transpose_a, flags.transpose_b, activation, flags.widen});
    node.def = &op_linear;
  }
  node.inputs = {product.inputs[0], product.inputs[1], bias};
  plan.impl().infer(node);
}

}  // namespace

bool fuse_bias(PlanGraph& plan) {
  const FuseContext context(plan);
  bool changed = false;
  for (OpNode* product : context.order()) {
    if (!takes_bias(*product)) continue;
    OpNode* add = context.find_only_user(*product);
    const Tensor bias = add ? find_bias(*add, product->output(0)) : Tensor();
    if (bias.is_null() || add->device != product->device) continue;
    OpNode* relu = context.find_only_user(*add);
    const bool has_relu = relu && relu->def == &op_relu && relu->device == add->device;
    become_product(plan, has_relu ? *relu : *add, *product, bias,
                   has_relu ? LinearActivation::relu : LinearActivation::none);
    changed = true;
  }
  if (changed) drop_dead_nodes(plan);
  return changed;
}

}  // namespace internal

bool fuse(PlanGraph& plan) {
  using namespace internal;
  bool changed = prune(plan);
  changed |= fuse_bias(plan);
  changed |= fuse_relu(plan);
  changed |= fuse_sums(plan);
  changed |= fuse_pool(plan);
  changed |= fuse_rounding(plan);
  changed |= fuse_updates(plan);
  const FuseContext context(plan);
  Forwarding forwarding(plan);
  bool has_groups = false;
  for (const FuseGroup& group : find_groups(context)) {
    emit_group(plan, context, group, forwarding);
    has_groups = true;
  }
  if (!has_groups) return changed;
  forwarding.apply(plan);
  drop_dead_nodes(plan);
  return true;
}

}  // namespace martello
