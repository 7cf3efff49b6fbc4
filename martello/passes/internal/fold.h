#pragma once
#include <martello/passes/internal/rewrite.h>

namespace martello::internal {

// Runs the CPU kernel of a node whose inputs are constants, on this thread. Empty when the node is not pure, its rows
// depend on data, its outputs are too large to keep, or its kernel refuses these values: then the run will say so.
HostTensors evaluate(const OpNode& node);

// Runs the CPU kernel of a node on these inputs, on this thread. All shapes are known.
HostTensors run_on_cpu(const OpNode& node, const HostTensors& inputs);

// Elements of a small integer tensor that are all known, as a tensor; null when they are not.
std::optional<HostTensor> known_elements(const NodeOutput& output);

}  // namespace martello::internal
