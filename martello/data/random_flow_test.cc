#include <martello/data/internal/random_flow.h>
#include <martello/data/internal/test_flow.h>

namespace martello::data {
namespace {

using namespace internal;

TEST(RandomFlows, keep_what_every_flow_promises) {
  const Silence silence;
  for (uint64_t seed = 0; seed < 60 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    check_flow(random_flow(seed, 6, 0), kRandomFlowPass);
  }
}

TEST(RandomFlows, have_the_same_order_with_1_to_8_threads) {
  const Silence silence;
  for (uint64_t seed = 1000; seed < 1030 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const List expected = all_of(random_flow(seed, 6, 1), kRandomFlowPass);
    for (int threads = 2; threads <= 8; ++threads) {
      const DataFlowRef flow = random_flow(seed, 6, threads);
      EXPECT_TRUE(same(all_of(flow, kRandomFlowPass), expected)) << threads << " threads: " << flow.description();
    }
  }
}

}  // namespace
}  // namespace martello::data
