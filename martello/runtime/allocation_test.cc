// A prepared run with shapes seen before allocates nothing, outside of what oneDNN allocates within its own execute.
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/softmax.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/optim/optimizer.h>
#include <martello/runtime/hooked_session.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<bool> is_counting = false;
std::atomic<int64_t> allocations = 0;
thread_local int library_depth = 0;

void count() {
  if (is_counting.load(std::memory_order_relaxed) && library_depth == 0) ++allocations;
}

}  // namespace

// Calls into oneDNN pass through here, so that its own allocations can be told from ours.
extern "C" int dnnl_primitive_execute(const void* primitive, void* stream, int count, const void* arguments) {
  using Execute = int (*)(const void*, void*, int, const void*);
  static const auto real = reinterpret_cast<Execute>(dlsym(RTLD_NEXT, "dnnl_primitive_execute"));
  ++library_depth;
  const int status = real(primitive, stream, count, arguments);
  --library_depth;
  return status;
}

void* operator new(size_t bytes) {
  count();
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  count();
  const auto a = static_cast<size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (bytes + a) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace martello {
namespace {

struct Model {
  Tensor x, label, loss;
  Operation train;
};

// Every kind of kernel that a training step has: matmul, fused chains, reductions, random, cross entropy, update.
Model build(bool is_adam) {
  Model m;
  m.x = placeholder({kUnknown, 32}, f32, "x");
  m.label = placeholder({kUnknown}, i32, "label");
  auto w0 = get_variable("w0", {.shape = {32, 64}}), w1 = get_variable("w1", {.shape = {64, 10}});
  auto b0 = get_variable("b0", {.shape = {64}, .initializer = zeros()});
  auto h = tanh(matmul(m.x, w0) + b0);
  h = h * cast(random_uniform({16, 64}) < 0.5, f32) * 2;
  m.loss = reduce_mean(sparse_softmax_cross_entropy(matmul(h, w1), m.label), "loss");
  if (is_adam) m.train = Adam(1e-3).minimize(m.loss);
  else m.train = Momentum(1e-2).minimize(m.loss);
  return m;
}

template <class F>
int64_t count_allocations(F&& run) {
  allocations = 0;
  is_counting = true;
  run();
  is_counting = false;
  return allocations;
}

class Allocations : public ::testing::TestWithParam<bool> {};

TEST_P(Allocations, a_prepared_training_step_makes_none) {
  GraphScope g;
  const Model m = build(GetParam());
  Session s;
  auto run = s.prepare({m.train, m.loss}, {m.x, m.label});
  run.feed(0, HostTensor::full({16, 32}, f32, 0.1));
  run.feed(1, HostTensor({16}, i32));
  run.run();
  EXPECT_EQ(count_allocations([&] {
              for (int i = 0; i < 10; ++i) run.run();
            }),
            0);
}

TEST_P(Allocations, feeding_again_makes_none) {
  GraphScope g;
  const Model m = build(GetParam());
  Session s;
  auto run = s.prepare({m.train, m.loss}, {m.x, m.label});
  const HostTensor x = HostTensor::full({16, 32}, f32, 0.1), other = HostTensor::full({16, 32}, f32, 0.2),
                   label({16}, i32);
  for (int i = 0; i < 2; ++i) run.feed(0, x), run.feed(1, label), run.run();
  run.feed(0, other), run.run();
  EXPECT_EQ(count_allocations([&] {
              run.feed(0, x);
              run.feed(1, label);
              run.run();
              run.feed(0, other);
              run.run();
            }),
            0);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Allocations, ::testing::Bool());

TEST(Allocation, the_hook_counts_ours) {
  EXPECT_GT(count_allocations([] { delete new int(1); }), 0);
}

}  // namespace
}  // namespace martello
