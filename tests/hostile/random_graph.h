#pragma once
#include <cstdint>

namespace martello::testing {

struct RandomGraphCounts {
  int64_t graphs = 0;
  int64_t ran = 0;             // gave values
  int64_t differentiated = 0;  // with gradients among them
};

// Builds the graph of this number, differentiates it where possible, plans and runs it, fused and unfused: values with
// the same bits, or an Error from both.
void run_random_graph(uint64_t number, RandomGraphCounts& counts);

// As many as MARTELLO_RANDOM_GRAPHS says, else `count`, from number MARTELLO_RANDOM_FIRST on.
RandomGraphCounts run_random_graphs(int64_t count);

}  // namespace martello::testing
