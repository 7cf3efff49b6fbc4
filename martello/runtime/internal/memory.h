#pragma once
#include <martello/runtime/internal/program.h>

#include <vector>

namespace martello {

// Values by node id and output index.
using ValueTable = std::vector<std::vector<int>>;

// Gives every arena value and every kernel's scratch its offset: aliases share memory, outputs take the place of dead
// inputs where the op allows, gradients are pinned to the layout of their variables. Fills program.arena_bytes and
// program.memory.
void plan_arenas(Program& program, const Schedule& schedule, const ValueTable& values, const VariableStore* store);

}  // namespace martello
