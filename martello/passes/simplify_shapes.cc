#include <martello/graph/inline.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/concat.h>
#include <martello/ops/cond.h>
#include <martello/ops/custom_gradient.h>
#include <martello/ops/internal/permutation.h>
#include <martello/ops/like.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/scan.h>
#include <martello/ops/slice.h>
#include <martello/ops/transpose.h>
#include <martello/passes/internal/simplify_rules.h>

#include <algorithm>
#include <utility>

namespace martello::internal {
namespace {

bool is_alias(const OpNode& node) {
  return node.def->is_alias && is_pure(node) && node.outputs.size() == 1 &&
         node.inputs[0].dtype() == node.outputs[0].dtype;
}

// identity(x), stop_gradient(x), reshape(x) to the shape of x  =>  x
bool alias_without_effect(Rewrite& rewrite, OpNode& node) {
  return is_alias(node) && are_alike(node.output(0), node.inputs[0]) && rewrite.forward(node, node.inputs[0]);
}

// custom_gradient(ys, xs)  =>  ys
bool custom_gradient_of_values(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_custom_gradient || !rewrite.forward(node, node.inputs[0])) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    rewrite.forward_output(node.output(static_cast<int>(i)), node.inputs[i]);
  return true;
}

// cond(p, c) { then(c) }  =>  cond(p) { then() with c inside }: sizes from outside must be known where a body is
// planned
constexpr int64_t kMostInBody = 64;  // elements
bool constants_into_branches(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_cond) return false;
  const auto& a = node.attrs.get<CondAttrs>();
  const auto then_inputs = static_cast<size_t>(a.then_inputs);
  std::vector<std::optional<HostTensor>> values[2];
  std::vector<Tensor> inputs{node.inputs[0]};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const HostTensor* value = find_constant(node.inputs[i]);
    const bool is_small = value && value->num_elements() <= kMostInBody;
    values[i > then_inputs].push_back(is_small ? std::optional(*value) : std::nullopt);
    if (!is_small) inputs.push_back(node.inputs[i]);
  }
  if (inputs.size() == node.inputs.size()) return false;
  CondAttrs made{with_constants(a.then_body, values[0]), with_constants(a.else_body, values[1]), 0};
  made.then_inputs = static_cast<int64_t>(made.then_body.inputs().size());
  return rewrite.become(node, op_cond, std::move(inputs), Attrs(std::move(made)));
}

// scan(c) { body(c) }  =>  scan() { body() with c inside }
bool constants_into_scan(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_scan) return false;
  ScanAttrs made = node.attrs.get<ScanAttrs>();
  const auto first = static_cast<size_t>(made.carried + made.xs);
  std::vector<std::optional<HostTensor>> values;
  std::vector<Tensor> inputs;
  std::vector<int64_t> counters;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const HostTensor* value = i < first ? nullptr : find_constant(node.inputs[i]);
    const bool is_small = value && value->num_elements() <= kMostInBody;
    values.push_back(is_small ? std::optional(*value) : std::nullopt);
    if (is_small) continue;
    const auto& old = made.counters;
    if (std::find(old.begin(), old.end(), static_cast<int64_t>(i)) != old.end())
      counters.push_back(static_cast<int64_t>(inputs.size()));
    inputs.push_back(node.inputs[i]);
  }
  if (inputs.size() == node.inputs.size()) return false;
  made.body = with_constants(made.body, values);
  made.counters = counters;
  return rewrite.become(node, op_scan, std::move(inputs), Attrs(std::move(made)));
}

// reshape(squeeze(x)), reshape(x, sizes), flatten(x)  =>  reshape(x) {shape}
bool one_reshape(Rewrite& rewrite, OpNode& node) {
  if (!is_alias(node) || !is_static(node.output(0)) || are_alike(node.output(0), node.inputs[0])) return false;
  Tensor x = node.inputs[0];
  const bool is_below_alias = is_alias(*x.node()) && x.node()->controls.empty() && is_static(x.node()->inputs[0]);
  if (is_below_alias) x = x.node()->inputs[0];
  const bool is_plain = node.def == &op_reshape && node.inputs.size() == 1 &&
                        node.attrs.get<ReshapeAttrs>().shape == node.outputs[0].shape;
  if ((is_plain && !is_below_alias) || !is_static(x)) return false;
  return becomes_reshape(rewrite, node, x);
}

// concat(x)  =>  x;  stack(x)  =>  reshape(x)
bool concat_of_one(Rewrite& rewrite, OpNode& node) {
  if ((node.def != &op_concat && node.def != &op_stack) || node.inputs.size() != 1) return false;
  if (are_alike(node.output(0), node.inputs[0])) return rewrite.forward(node, node.inputs[0]);
  return is_static(node.inputs[0]) && becomes_reshape(rewrite, node, node.inputs[0]);
}

// slice(x) of all of x  =>  x
bool slice_of_all(Rewrite& rewrite, OpNode& node) {
  const bool is_strided = node.def == &op_strided_slice;
  if ((node.def != &op_slice && !is_strided) || !is_static(node.inputs[0])) return false;
  if (is_strided)
    for (const int64_t stride : node.attrs.get<StridedSliceAttrs>().stride)
      if (stride < 0) return false;
  return are_alike(node.output(0), node.inputs[0]) && rewrite.forward(node, node.inputs[0]);
}

std::vector<int> permutation_of(const OpNode& node) {
  return full_permutation(node.attrs.get<TransposeAttrs>().perm, node.inputs[0].rank());
}

// transpose(transpose(x))  =>  transpose(x)
bool one_transpose(Rewrite& rewrite, OpNode& node) {
  const OpNode* inner = node.def == &op_transpose ? find_inner(node.inputs[0], op_transpose) : nullptr;
  if (!inner) return false;
  std::vector<int> perm = permutation_of(node);
  const std::vector<int> first = permutation_of(*inner);
  for (int& p : perm) p = first[static_cast<size_t>(p)];
  return rewrite.become(node, op_transpose, {inner->inputs[0]}, Attrs(TransposeAttrs{std::move(perm)}));
}

// transpose(x) that keeps the order  =>  x;  that moves only dimensions of 1  =>  reshape(x)
bool transpose_without_work(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_transpose) return false;
  const Tensor x = node.inputs[0];
  const std::vector<int> perm = permutation_of(node);
  if (std::is_sorted(perm.begin(), perm.end())) return rewrite.forward(node, x);
  std::vector<int> moved;
  for (const int p : perm)
    if (x.dim(p) != 1) moved.push_back(p);
  return is_static(x) && std::is_sorted(moved.begin(), moved.end()) && becomes_reshape(rewrite, node, x);
}

bool swaps_last_two(Tensor t) {
  const OpNode* node = find_inner(t, op_transpose);
  if (!node || !is_static(t)) return false;
  std::vector<int> perm = permutation_of(*node);
  if (perm.size() < 2) return false;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return std::is_sorted(perm.begin(), perm.end());
}

// matmul(transpose(a), b)  =>  matmul(a, b) {transpose_a=true}, and so for b
bool transpose_into_matmul(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_matmul || (!swaps_last_two(node.inputs[0]) && !swaps_last_two(node.inputs[1]))) return false;
  MatmulAttrs attrs = node.attrs.get<MatmulAttrs>();
  std::vector<Tensor> inputs = node.inputs;
  bool* flags[] = {&attrs.transpose_a, &attrs.transpose_b};
  for (size_t i = 0; i < 2; ++i)
    if (swaps_last_two(inputs[i])) {
      *flags[i] = !*flags[i];
      inputs[i] = inputs[i].node()->inputs[0];
    }
  return rewrite.become(node, op_matmul, std::move(inputs), Attrs(attrs));
}

// sum_to_like(g, x), shapes equal  =>  g;  else  =>  reduce_sum(g), and a reshape where dimensions of 1 stay
bool static_sum_to_like(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_sum_to_like) return false;
  const Tensor g = node.inputs[0];
  if (are_alike(node.output(0), g)) return rewrite.forward(node, g);
  const Shape &from = g.shape(), &to = node.outputs[0].shape;
  if (!is_static(g) || !is_static(node.output(0))) return false;
  const int extra = from.rank() - to.rank();
  std::vector<int> axes;
  for (int i = 0; i < from.rank(); ++i)
    if (i < extra || (to[i - extra] == 1 && from[i] != 1)) axes.push_back(i);
  const bool only_extra = static_cast<int>(axes.size()) == extra;
  const Attrs attrs(ReduceAttrs{Axes(std::move(axes)), extra == 0});
  if (only_extra || extra == 0) return rewrite.become(node, op_reduce_sum, {g}, attrs);
  return becomes_reshape(rewrite, node, rewrite.add(node, "reduce_sum", op_reduce_sum, {g}, attrs));
}

// broadcast_like(x, like), shapes equal  =>  x;  else  =>  broadcast_to(x) {shape}
bool static_broadcast(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_broadcast_like && node.def != &op_broadcast_to) return false;
  const Tensor x = node.inputs[0];
  if (are_alike(node.output(0), x)) return rewrite.forward(node, x);
  if (node.def == &op_broadcast_to || !is_static(x) || !is_static(node.output(0))) return false;
  return rewrite.become(node, op_broadcast_to, {x}, Attrs(BroadcastToAttrs{node.outputs[0].shape}));
}

// add(broadcast_to(x), y), y as large  =>  add(x, y), and so for every element-wise op
bool broadcast_into_elementwise(Rewrite& rewrite, OpNode& node) {
  if (!node.def->formula || node.inputs.size() < 2 || !is_static(node.output(0))) return false;
  std::vector<Tensor> inputs = node.inputs;
  for (Tensor& t : inputs) {
    if (!find_inner(t, op_broadcast_to)) continue;
    const Tensor whole = std::exchange(t, t.node()->inputs[0]);
    Shape shape;
    for (const Tensor& other : inputs) shape = broadcast(shape, other.shape()).value_or(shape);
    if (shape != node.outputs[0].shape) t = whole;
  }
  return inputs != node.inputs && rewrite.become(node, *node.def, std::move(inputs), node.attrs);
}

constexpr Rewrite::Rule kRules[] = {
    {"alias_without_effect", alias_without_effect},
    {"custom_gradient_of_values", custom_gradient_of_values},
    {"constants_into_branches", constants_into_branches},
    {"constants_into_scan", constants_into_scan},
    {"one_reshape", one_reshape},
    {"concat_of_one", concat_of_one},
    {"slice_of_all", slice_of_all},
    {"one_transpose", one_transpose},
    {"transpose_without_work", transpose_without_work},
    {"transpose_into_matmul", transpose_into_matmul},
    {"static_sum_to_like", static_sum_to_like},
    {"static_broadcast", static_broadcast},
    {"broadcast_into_elementwise", broadcast_into_elementwise},
};

}  // namespace

std::span<const Rewrite::Rule> shape_rules() { return kRules; }

}  // namespace martello::internal
