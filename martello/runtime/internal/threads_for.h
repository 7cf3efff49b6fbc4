#pragma once
#include <martello/graph/node.h>

#include <vector>

namespace martello {

// How long a node takes on one thread, roughly, in microseconds.
double estimated_microseconds(const OpNode& node);

// Threads for each node of a program, given the most there are: a fork-join costs about a microsecond and a cold one
// more, so small nodes, and all nodes of small programs, stay on one thread.
std::vector<int> choose_threads(const std::vector<OpNode*>& nodes, int most);

}  // namespace martello
