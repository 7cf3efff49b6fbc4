#pragma once
#include <martello/graph/graph.h>

namespace martello {

// Throws when the graph breaks a rule that every graph must keep: inputs and controls belong to it and come from live
// nodes, names are unique, outputs match what shape functions say, no cycles, write targets are variables, bodies are
// well formed. Runs after each pass.
void verify(const Graph& graph);

}  // namespace martello
