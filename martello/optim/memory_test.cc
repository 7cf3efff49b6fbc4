#include <martello/graph/scopes.h>
#include <martello/ops/add_n.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace martello {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t planned_bytes(const MemoryPlan& plan) {
  const DeviceMemory& d = plan.devices[0];
  return d.arena_bytes + d.variable_bytes + d.derived_bytes + d.constant_bytes;
}

// Variables have buffers of their own until the optimizer's group takes them in.
TEST(Memory, a_session_keeps_no_more_than_it_planned) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers keep what is freed";
  { const HostTensor large({4 << 20}, f32); }  // from now on the C library takes smaller ones from its heap
  const int64_t before = resident_bytes();
  GraphScope g;
  TensorList parts;
  for (int i = 0; i < 64; ++i)
    parts.push_back(reduce_sum(square(get_variable(str("w", i), {.shape = {1 << 18}, .initializer = ones()}))));
  const Operation train = Momentum(0.01).minimize(add_n(parts));
  Session session;
  session.run(train);
  const int64_t planned = planned_bytes(session.memory_plan(train)), taken = resident_bytes() - before;
  EXPECT_GT(planned, 128 << 20);
  EXPECT_LT(taken, planned + (32 << 20));
}

}  // namespace
}  // namespace martello
