// What is done to each number of a result as it is written:
//   %y = batch_norm_training(%x, ...)  %r = relu(%y)             =>  batch_norm_training(%x, ...) {relu}
//   %g = relu_grad(%r, %dy)  %d = batch_norm_training_grad(%g)   =>  batch_norm_training_grad(%dy) {relu}
//   %y = batch_norm_training(%x, ...)  %p = cast(%y) {bf16}      =>  batch_norm_training(%x, ...) {narrow}
//   %y = conv2d(%x, %w) {widen}  %p = cast(%y) {bf16}            =>  conv2d(%x, %w) {widen, narrow}
//   %y = conv2d(%x, %w, %b)  %p = max_pool(%y)                   =>  conv2d_max_pool(%x, %w, %b)
#include <martello/ops/activation.h>
#include <martello/ops/batch_norm.h>
#include <martello/ops/cast.h>
#include <martello/ops/conv2d_max_pool.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/conv_pool.h>
#include <martello/passes/internal/fuse.h>
#include <martello/passes/internal/node_plan.h>

#include <algorithm>

namespace martello::internal {
namespace {

// Without an addend.
bool is_norm(const OpNode& node) {
  return (node.def == &op_batch_norm_training && node.inputs.size() == 3) ||
         (node.def == &op_batch_norm_inference && node.inputs.size() == 5);
}

// Whether `grad` is the gradient of this node: the same x, gamma, beta, mean and variance.
bool is_gradient_of(const OpNode& grad, OpNode& norm) {
  const bool is_training = norm.def == &op_batch_norm_training;
  if (grad.def != (is_training ? &op_batch_norm_training_grad : &op_batch_norm_inference_grad)) return false;
  std::vector<Tensor> inputs = norm.inputs;
  if (is_training) inputs.insert(inputs.end(), {norm.output(1), norm.output(2)});
  const bool has_same_attrs = grad.attrs.get<BatchNormAttrs>() == norm.attrs.get<BatchNormAttrs>();
  return has_same_attrs && std::equal(inputs.begin(), inputs.end(), grad.inputs.begin());
}

// The gradient finds y once more, so it can tell by itself what relu lets through. It reads a dy of y's shape, which
// the slope may broadcast: after a mean over pixels dy is [N, 1, 1, C].
bool fuse_relu_grad(const FuseContext& context, OpNode& slope) {
  OpNode& relu = *slope.inputs[0].node();
  if (relu.def != &op_relu || relu.inputs[0].index() != 0 || !is_norm(*relu.inputs[0].node())) return false;
  if (slope.inputs[1].shape() != slope.outputs[0].shape) return false;
  const auto readers = context.users().of(slope.output(0));
  if (readers.size() != 1 || context.users().is_fetched(slope.output(0)) || context.is_pinned(slope)) return false;
  OpNode& grad = *readers[0];
  if (!is_gradient_of(grad, *relu.inputs[0].node()) || context.is_pinned(grad) || grad.device != slope.device)
    return false;
  grad.inputs[5] = slope.inputs[1];
  set_relu(grad);
  return true;
}

}  // namespace

void set_relu(OpNode& norm) {
  BatchNormAttrs attrs = norm.attrs.get<BatchNormAttrs>();
  attrs.relu = true;
  norm.attrs = Attrs(attrs);
}

bool fuse_relu(PlanGraph& plan) {
  const FuseContext context(plan);
  bool changed = false;
  for (OpNode* node : context.order())
    if (node->def == &op_relu_grad) changed |= fuse_relu_grad(context, *node);
  Forwarding forwarding(plan);
  for (OpNode* node : context.order()) {
    OpNode* relu =
        is_norm(*node) && !node->attrs.get<BatchNormAttrs>().relu ? context.find_follower(*node, op_relu) : nullptr;
    if (!relu) continue;
    set_relu(*node);
    forwarding.set(relu->output(0), node->output(0));
    changed = true;
  }
  if (!changed) return false;
  forwarding.apply(plan);
  drop_dead_nodes(plan);
  return true;
}

namespace {

// Whether our loops compute this convolution, so that they may pool its result as well.
bool has_pooling_loops(const OpNode& conv, const PoolAttrs& windows, int threads) {
  const auto& attrs = conv.attrs.get<ConvOpAttrs>();
  if (!NodePlan::is_known(conv) || attrs.packing.is_packed() || windows.data_format != attrs.conv.data_format)
    return false;
  constexpr auto kForward = ConvDirection::forward;
  const NodePlan known(conv, threads);
  if (conv2d_task(known.in(), attrs.activation).has_addend) return false;
  const ConvProblem problem = conv_problem(kForward, conv.where(), known.in(), known.out(), attrs);
  const char* loops =
      find_pooling_loops(problem, pool_axes(conv.where(), windows, problem.axes[0].out, problem.axes[1].out));
  return loops && chosen_convolution(known.kernel_plan(), kForward) == loops;
}

// Windows that share rows would have them computed again.
bool shares_rows(const PoolAttrs& windows) { return windows.stride.h != 0 && windows.size.h > windows.stride.h; }

bool reads_index(const FuseContext& context, OpNode& pool) {
  return !context.users().of(pool.output(1)).empty() || context.users().is_fetched(pool.output(1));
}

}  // namespace

bool fuse_pool(PlanGraph& plan) {
  const FuseContext context(plan);
  Forwarding forwarding(plan);
  bool changed = false;
  for (OpNode* node : context.order()) {
    OpNode* pool = node->def == &op_conv2d ? context.find_follower(*node, op_max_pool) : nullptr;
    if (!pool || reads_index(context, *pool)) continue;
    const auto& conv = node->attrs.get<ConvOpAttrs>();
    const auto& windows = pool->attrs.get<PoolAttrs>();
    if (shares_rows(windows) || !has_pooling_loops(*node, windows, plan.threads)) continue;
    node->attrs = Attrs(ConvPoolAttrs{conv.conv, conv.activation, windows});
    node->def = &op_conv2d_max_pool;
    plan.impl().infer(*node);
    forwarding.set(pool->output(0), node->output(0));
    changed = true;
  }
  if (!changed) return false;
  forwarding.apply(plan);
  drop_dead_nodes(plan);
  return true;
}

bool fuse_rounding(PlanGraph& plan) {
  const FuseContext context(plan);
  Forwarding forwarding(plan);
  bool changed = false;
  for (OpNode* node : context.order()) {
    if (!node->def->narrowed || node->outputs[0].dtype != f32) continue;
    OpNode* cast = context.find_follower(*node, op_cast);
    if (!cast || cast->outputs[0].dtype != bf16) continue;
    auto attrs = node->def->narrowed(NodePlan(*node, plan.threads).kernel_plan());
    if (!attrs) continue;
    node->attrs = std::move(*attrs);
    plan.impl().infer(*node);
    forwarding.set(cast->output(0), node->output(0));
    changed = true;
  }
  if (!changed) return false;
  forwarding.apply(plan);
  drop_dead_nodes(plan);
  return true;
}

}  // namespace martello::internal
