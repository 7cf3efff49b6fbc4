#pragma once
#include <martello/graph/graph.h>

#include <string>

namespace martello::tools {

inline constexpr size_t kMostDrawnNodes = 3000;

// A picture of the graph, inputs above their users. Refuses a graph of more than kMostDrawnNodes.
std::string graph_svg(const Graph& graph);

}  // namespace martello::tools
