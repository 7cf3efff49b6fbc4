#pragma once
#include <martello/passes/internal/rewrite.h>

// The rules of simplify. Each keeps every bit of every value.
namespace martello::internal {

std::span<const Rewrite::Rule> shape_rules();       // simplify_shapes.cc: what moves and repeats data
std::span<const Rewrite::Rule> arithmetic_rules();  // simplify_arithmetic.cc: what computes

// Whether users of `a` may as well take `b`: one dtype, one shape, rows that depend on data in both or in none.
bool are_alike(Tensor a, Tensor b);
// The node behind t when it is this op and free to be passed by: one with control edges stays on the path. Else null.
const OpNode* find_inner(Tensor t, const OpDef& def);
// Every dimension is known before the run.
bool is_static(Tensor t);
bool becomes_reshape(Rewrite& rewrite, OpNode& node, Tensor x);  // to the shape that `node` has

}  // namespace martello::internal
