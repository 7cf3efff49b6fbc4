#pragma once
#include <martello/graph/node.h>
#include <martello/graph/subgraph.h>

#include <span>

// Bodies as parts of other graphs, for ops that hold subgraphs: their shapes, gradients and simplification.
namespace martello {

// Adds the nodes that the body's outputs need to the current graph, with `inputs` in place of its args, and gives what
// stands for its outputs. Names get the current scope and a suffix where they are taken; gradient overrides are kept.
TensorList inline_subgraph(const Subgraph& body, const TensorList& inputs);

// The body for computing its values a second time: without print, assert_that and whatever else acts outside the graph
// and can be left out, at any depth. What acts and makes a value (host_call) stays.
Subgraph without_actions(const Subgraph& body);

// Whether running this node acts outside the graph. A node with bodies acts when one of them does.
bool acts(const OpNode& node);
// A node that the body's outputs need and that acts; null when there is none.
const OpNode* find_action(const Subgraph& body);

// The body with inputs of these shapes (and, where known, elements).
Subgraph with_inputs(const Subgraph& body, std::span<const TensorSpec> in,
                     std::span<const std::vector<int64_t>* const> values = {});

// The body with constants in place of the args for which a value is given; the others stay its inputs, in order.
Subgraph with_constants(const Subgraph& body, const std::vector<std::optional<HostTensor>>& values);

}  // namespace martello
