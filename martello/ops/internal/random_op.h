#pragma once
#include <martello/graph/op_def.h>

#include <string>

// What random ops share when they are added to a graph. Input 0 is the counter.
namespace martello::internal {

struct RandomSite {
  Tensor counter;
  int64_t key = 0;
  std::string name;
};
// Counter and key of a new random op. The counter's name is unique in the whole graph, subgraphs included; an
// initializer has no counter, but its nodes are named after the variable.
RandomSite make_random_site(Name name);

// Throws unless input 0 is a counter.
void check_counter(const ShapeContext& c);
Cost random_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&);

}  // namespace martello::internal
