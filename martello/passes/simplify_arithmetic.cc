#include <martello/graph/core_ops.h>
#include <martello/ops/add_n.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/like.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>
#include <martello/passes/internal/simplify_rules.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace martello::internal {
namespace {

// Whether every element is this number, with its sign: 0 is not -0.
bool is_all(Tensor t, double number) {
  const auto is_it = [&](double v) { return v == number && std::signbit(v) == std::signbit(number); };
  if (t.node()->def == &op_fill) return is_it(t.node()->attrs.get<FillAttrs>().value);
  constexpr int64_t kMostElements = 64;
  const HostTensor* value = find_constant(t);
  if (!value || value->num_elements() > kMostElements) return false;
  for (int64_t i = 0; i < value->num_elements(); ++i)
    if (!is_it(value->at(i))) return false;
  return true;
}

// op(x, neutral)  =>  x
bool drops_neutral(Rewrite& rewrite, OpNode& node, size_t x, double neutral) {
  return is_all(node.inputs[1 - x], neutral) && are_alike(node.output(0), node.inputs[x]) &&
         rewrite.forward(node, node.inputs[x]);
}

// x * 1, 1 * x  =>  x
bool times_one(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_multiply && (drops_neutral(rewrite, node, 0, 1) || drops_neutral(rewrite, node, 1, 1));
}

// x / 1  =>  x
bool divided_by_one(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_divide && drops_neutral(rewrite, node, 0, 1);
}

// x - 0  =>  x
bool minus_zero(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_subtract && drops_neutral(rewrite, node, 0, 0.0);
}

// x + 0, 0 + x  =>  x, of integers; of floats -0 is neutral, since -0 + 0 is 0
bool plus_zero(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_add) return false;
  const double zero = is_floating(node.outputs[0].dtype) ? -0.0 : 0.0;
  return drops_neutral(rewrite, node, 0, zero) || drops_neutral(rewrite, node, 1, zero);
}

// where(true, a, b)  =>  a;  where(false, a, b)  =>  b
bool known_choice(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_where) return false;
  for (const auto& [c, chosen] : {std::pair{1.0, node.inputs[1]}, {0.0, node.inputs[2]}})
    if (is_all(node.inputs[0], c) && are_alike(node.output(0), chosen)) return rewrite.forward(node, chosen);
  return false;
}

// pow(x, 1)  =>  x; only in f32, which is computed in f64 and rounded: in f64 it may be an ulp off
bool power_of_one(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_pow && node.outputs[0].dtype == f32 && drops_neutral(rewrite, node, 0, 1);
}

// negative(negative(x))  =>  x
bool negative_of_negative(Rewrite& rewrite, OpNode& node) {
  const OpNode* inner = node.def == &op_negative ? find_inner(node.inputs[0], op_negative) : nullptr;
  return inner && rewrite.forward(node, inner->inputs[0]);
}

// square(negative(x)), square(abs(x))  =>  square(x);  abs(negative(x)), abs(abs(x))  =>  abs(x)
bool sign_does_not_matter(Rewrite& rewrite, OpNode& node) {
  if (node.def != &op_square && node.def != &op_abs) return false;
  const OpNode* inner = find_inner(node.inputs[0], op_negative);
  if (!inner) inner = find_inner(node.inputs[0], op_abs);
  return inner && rewrite.become(node, *node.def, {inner->inputs[0]}, node.attrs);
}

// add_n(x)  =>  x
bool sum_of_one(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_add_n && node.inputs.size() == 1 && are_alike(node.output(0), node.inputs[0]) &&
         rewrite.forward(node, node.inputs[0]);
}

// add_n(x, y, z)  =>  add(add(x, y), z), in the same order; few of them, which fuse with what is around them
bool sum_of_few(Rewrite& rewrite, OpNode& node) {
  constexpr size_t kFew = 4;
  if (node.def != &op_add_n || node.inputs.size() < 2 || node.inputs.size() > kFew) return false;
  if (node.inputs.size() > 2 && !is_floating(node.outputs[0].dtype)) return false;
  Tensor sum = node.inputs[0];
  for (size_t i = 1; i + 1 < node.inputs.size(); ++i)
    sum = rewrite.add(node, "add", op_add, {sum, node.inputs[i]}, Attrs());
  return rewrite.become(node, op_add, {sum, node.inputs.back()}, Attrs());
}

// cast(x) to its own dtype  =>  x
bool cast_to_same(Rewrite& rewrite, OpNode& node) {
  return node.def == &op_cast && are_alike(node.output(0), node.inputs[0]) && rewrite.forward(node, node.inputs[0]);
}

// Whether every value of `a` is one of `b`.
bool is_contained(DType a, DType b) {
  if (a == boolean || a == b) return true;
  if (a == u8) return b != boolean;
  if (a == i32) return b == i64 || b == f64;
  return (a == bf16 || a == f16) ? b == f32 || b == f64 : a == f32 && b == f64;
}

// cast(cast(x), its own dtype)  =>  x, when nothing was lost between
bool cast_and_back(Rewrite& rewrite, OpNode& node) {
  const OpNode* inner = node.def == &op_cast ? find_inner(node.inputs[0], op_cast) : nullptr;
  if (!inner) return false;
  const Tensor x = inner->inputs[0];
  return are_alike(node.output(0), x) && is_contained(x.dtype(), node.inputs[0].dtype()) && rewrite.forward(node, x);
}

constexpr Rewrite::Rule kRules[] = {
    {"times_one", times_one},
    {"divided_by_one", divided_by_one},
    {"minus_zero", minus_zero},
    {"plus_zero", plus_zero},
    {"known_choice", known_choice},
    {"power_of_one", power_of_one},
    {"negative_of_negative", negative_of_negative},
    {"sign_does_not_matter", sign_does_not_matter},
    {"sum_of_one", sum_of_one},
    {"sum_of_few", sum_of_few},
    {"cast_to_same", cast_to_same},
    {"cast_and_back", cast_and_back},
};

}  // namespace

std::span<const Rewrite::Rule> arithmetic_rules() { return kRules; }

}  // namespace martello::internal
