#pragma once
#include <martello/graph/inline.h>

// What ops with bodies (cond, scan) share.
namespace martello::internal {

// "f32[2]", or "(f32[2], i64[])".
std::string text_of(const std::vector<NodeOutput>& outputs);
// The same dtype, and sizes that may be equal.
bool fit(const NodeOutput& a, const NodeOutput& b);
// Without symbols that a body made: they have no meaning outside.
Shape known_outside(Shape shape, std::span<const TensorSpec> in);
// What the body gives for these inputs. Refuses rows that depend on data; `what` is "a branch".
std::vector<NodeOutput> outputs_with(const ShapeContext& c, const Subgraph& body, std::span<const TensorSpec> in,
                                     std::span<const std::vector<int64_t>* const> values, const char* what);
Cost cost_of(const Subgraph& body, std::span<const TensorSpec> in);

// A tensor of the current graph: t, or what stands for it there.
Tensor inside(const Tensor& t);
// Called while a body is built, with what it gives: refuses writes, and ties to the outputs what acts, because nothing
// else could ask for it.
TensorList finish_body(const TensorList& ys, const std::string& where, const char* what);
// Throws when what a gradient computes again acts outside the graph.
void check_repeatable(const GradContext& c, const Subgraph& body, const char* what);

}  // namespace martello::internal
