#pragma once
#include <martello/codec/event_encoder.h>
#include <martello/graph/graph.h>

#include <vector>

namespace martello::internal {

// The nodes of a graph as TensorBoard draws them; bodies of control flow stay closed.
std::vector<GraphNode> graph_nodes(const Graph& graph);

}  // namespace martello::internal
