#pragma once
#include <martello/passes/plan_graph.h>

#include <functional>

// Passes for graphs whose variables never change again. They are not among all_passes(): a plan of a session reads its
// variables anew in every run.
namespace martello {

// %w = variable()  =>  %w = constant(), with the value that `value_of` gives for its name. Counters of random ops and
// variables that a node reads by itself (read_variable) stay.
bool bind_variables(PlanGraph& plan, const std::function<HostTensor(const std::string& name)>& value_of);

// A batch norm by given moments after a product with weights, all of them constants, becomes part of the weights.
// Leaves products that something else reads too.
bool fold_batch_norm(PlanGraph& plan);

}  // namespace martello
