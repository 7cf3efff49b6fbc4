#include "random_graph.h"

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

TEST(RandomGraphs, give_the_same_bits_fused_and_unfused_or_an_error) {
  const RandomGraphCounts counts = run_random_graphs(3000);
  RecordProperty("ran", static_cast<int>(counts.ran));
  RecordProperty("differentiated", static_cast<int>(counts.differentiated));
  // A builder that makes only what is refused would prove nothing.
  if (counts.graphs < 1000) return;
  EXPECT_GT(counts.ran, counts.graphs / 2);
  EXPECT_GT(counts.differentiated, counts.graphs / 10);
}

}  // namespace
}  // namespace martello::testing
