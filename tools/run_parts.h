#pragma once
#include "command.h"

namespace martello::tools {

// Config, graph and data of two runs, as their newest checkpoints hold them.
Report compare_parts(const std::string& a, const std::string& b);
// The first step of which both have a checkpoint and whose variables differ.
Report compare_weights(const std::string& a, const std::string& b);

}  // namespace martello::tools
