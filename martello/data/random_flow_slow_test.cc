#include <martello/data/internal/random_flow.h>
#include <martello/data/internal/test_flow.h>

namespace martello::data {
namespace {

using namespace internal;

TEST(RandomFlowsSlow, keep_what_every_flow_promises) {
  const Silence silence;
  for (uint64_t seed = 10000; seed < 12000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    check_flow(random_flow(seed, 3 + static_cast<int>(seed % 8), 0), kRandomFlowPass);
  }
}

}  // namespace
}  // namespace martello::data
