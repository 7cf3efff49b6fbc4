#include "random_graph.h"

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

// MARTELLO_RANDOM_GRAPHS=1000000 runs a million.
TEST(RandomGraphs, give_the_same_bits_fused_and_unfused_or_an_error_many_times) { run_random_graphs(100'000); }

}  // namespace
}  // namespace martello::testing
