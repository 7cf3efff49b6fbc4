#pragma once
#include <martello/ops/optimizer_update.h>
#include <martello/optim/optimizer.h>

#include <string>
#include <vector>

namespace martello {

// Gradients and variables that one update node can take: one dtype, one device. In order of first appearance.
std::vector<UpdateGroup> make_groups(const GradVars& grads, const char* optimizer);
// A zero variable like `v`, named `v/slot`; a second optimizer on the same variable gets a suffix.
Variable make_slot(const Variable& v, const std::string& slot);
// Fills group.slots.
void add_slots(UpdateGroup& group, const std::vector<std::string>& names);

}  // namespace martello
