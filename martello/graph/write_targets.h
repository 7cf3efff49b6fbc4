#pragma once
#include <martello/graph/node.h>

#include <algorithm>
#include <vector>

namespace martello {

// Inputs of a node that are variables it writes; none for any other op.
inline std::vector<int> write_targets(const OpNode& node) {
  return node.def->targets ? node.def->targets(node.attrs, static_cast<int>(node.inputs.size())) : std::vector<int>();
}

inline bool is_write_target(const OpNode& node, size_t input) {
  const auto targets = write_targets(node);
  return std::find(targets.begin(), targets.end(), static_cast<int>(input)) != targets.end();
}

}  // namespace martello
