#pragma once
#include <martello/graph/tensor.h>

namespace martello {

// The variable `global_step` of the current graph, an i64 scalar that starts at 0: training steps done. Made at the
// first call, whatever scope is open; schedules take it, and whoever trains advances it.
Variable get_global_step_var();
// Adds 1 to it, after the operations given.
Operation advance_global_step(const std::vector<Operation>& after = {}, Name name = "advance_global_step");

}  // namespace martello
