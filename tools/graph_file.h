#pragma once
#include <martello/graph/graph.h>

#include <string>

namespace martello::tools {

// The graph of a file: of a frozen model, of a checkpoint, or of a text that Graph::text() gave.
Graph load_graph(const std::string& path);

}  // namespace martello::tools
