#include <martello/base/internal/test_text.h>
#include <martello/base/internal/test_threads.h>
#include <martello/base/threads.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/matmul.h>
#include <martello/ops/unary.h>
#include <martello/tower/online_predictor.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::threads_of_process;

TEST(OnlinePredictor, runs_in_the_session_it_was_given) {
  GraphScope g;
  const Tensor x = placeholder({kUnknown}, f32, "x");
  const OnlinePredictor predict({x}, {square(x), x + 1});
  OnlinePredictor copy = predict;
  EXPECT_FALSE(predict.has_session());
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { predict({HostTensor({1}, f32)}); }), "before_train");
  copy.use_session(std::make_shared<Session>(g.graph()));
  const HostTensors first = predict({HostTensor::of<float>({3, 4})});
  const HostTensors second = predict({HostTensor::of<float>({5})});
  EXPECT_EQ(first[0].at(1), 16) << "not overwritten by the second call";
  EXPECT_EQ(second[1].at(0), 6);
  EXPECT_CONTAINS(error_of([&] { predict({}); }), "got 0 values for 1 inputs");
}

TEST(OnlinePredictor, one_that_was_never_assigned_says_so) {
  const OnlinePredictor none;
  EXPECT_FALSE(none);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { none({}); }), "never assigned");
}

TEST(OnlinePredictor, many_threads_may_call_it) {
  GraphScope g;
  const Tensor x = placeholder({kUnknown}, f32, "x");
  OnlinePredictor predict({x}, {x * 2});
  predict.use_session(std::make_shared<Session>(g.graph()));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i)
        if (predict({HostTensor::full({t + 1}, f32, i)})[0].at(t) != 2 * i) ++wrong;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// They would make the calls of all other threads several times as slow.
TEST(OnlinePredictor, a_first_call_leaves_no_threads_behind) {
  GraphScope g;
  const Tensor x = placeholder({256, 256}, f32, "x");
  const OnlinePredictor predict({x}, {matmul(x, x)},
                                std::make_shared<Session>(g.graph(), SessionOptions{.threads = 2}));
  release_team();
  const size_t before = threads_of_process();
  const HostTensor ones = HostTensor::full({256, 256}, f32, 1);
  predict({ones});
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_EQ(predict({ones})[0].at(0), 256);
  EXPECT_EQ(threads_of_process(), before + 1) << "a second one keeps them";
}

}  // namespace
}  // namespace martello
