#include <martello/base/internal/test_text.h>
#include <martello/ops/reduce.h>
#include <martello/predict/async_predictor.h>
#include <martello/predict/internal/predict_test.h>
#include <martello/predict/offline_predictor.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace martello {
namespace {

using testing::error_of;
using testing::line_config;

// y = 2 x; refuses negative numbers and waits at a gate. Takes down the sizes of batches.
class Doubler : public PredictorBase {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable is_changed;
    bool is_open = true;
    std::chrono::milliseconds duration{0};  // of a prediction
    std::vector<int64_t> batches;
  };
  explicit Doubler(std::shared_ptr<Shared> s) : shared_(std::move(s)) {}

 protected:
  HostTensors predict(const std::vector<HostTensor>& inputs) const override {
    {
      std::unique_lock lock(shared_->mutex);
      shared_->batches.push_back(inputs[0].shape()[0]);
      shared_->is_changed.notify_all();
      shared_->is_changed.wait(lock, [&] { return shared_->is_open; });
    }
    std::this_thread::sleep_for(shared_->duration);
    HostTensor y = inputs[0];
    for (float& v : y.mutable_data<float>()) {
      MARTELLO_CHECK(v >= 0, "negative: ", v);
      v *= 2;
    }
    return {y};
  }

 private:
  std::shared_ptr<Shared> shared_;
};

struct AsyncPredictor : ::testing::Test {
  std::shared_ptr<Doubler::Shared> shared = std::make_shared<Doubler::Shared>();
  void close() { shared->is_open = false; }
  void open() {
    const std::lock_guard lock(shared->mutex);
    shared->is_open = true;
    shared->is_changed.notify_all();
  }
  void wait_for_batch() const {
    std::unique_lock lock(shared->mutex);
    shared->is_changed.wait(lock, [&] { return !shared->batches.empty(); });
  }
};

TEST_F(AsyncPredictor, batches_what_waits_and_gives_each_its_row) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 6});
  close();
  predict.start();
  std::vector<PendingPrediction> results = {predict.put_task({HostTensor(0.f)})};
  wait_for_batch();
  for (int i = 1; i <= 11; ++i) results.push_back(predict.put_task({HostTensor(static_cast<float>(i))}));
  EXPECT_FALSE(results[0].is_done());
  EXPECT_FALSE(results[0].wait(0.01));
  open();
  for (int i = 0; i <= 11; ++i) EXPECT_EQ(results[static_cast<size_t>(i)].get()[0].scalar<float>(), 2.f * i);
  EXPECT_TRUE(results[0].is_done());
  EXPECT_EQ(shared->batches, (std::vector<int64_t>{1, 6, 4, 1}));
}

TEST_F(AsyncPredictor, only_the_caller_with_the_bad_sample_sees_an_error) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 4});
  close();
  predict.start();
  predict.put_task({HostTensor(1.f)});
  wait_for_batch();
  std::vector<PendingPrediction> results;
  for (const float x : {1.f, -7.f, 3.f, 4.f}) results.push_back(predict.put_task({HostTensor(x)}));
  open();
  EXPECT_EQ(results[0].get()[0].scalar<float>(), 2);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { results[1].get(); }), "negative: -7");
  EXPECT_EQ(results[2].get()[0].scalar<float>(), 6);
  EXPECT_EQ(results[3].get()[0].scalar<float>(), 8);
}

TEST_F(AsyncPredictor, samples_of_other_shapes_go_into_batches_of_their_own) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 8});
  close();
  predict.start();
  predict.put_task({HostTensor(1.f)});
  wait_for_batch();
  std::vector<PendingPrediction> results;
  for (int i = 0; i < 8; ++i) results.push_back(predict.put_task({HostTensor::full({1 + i % 2}, f32, i)}));
  open();
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(results[static_cast<size_t>(i)].get()[0].shape(), Shape(1 + i % 2));
    EXPECT_EQ(results[static_cast<size_t>(i)].get()[0].at(0), 2 * i);
  }
  EXPECT_EQ(shared->batches, (std::vector<int64_t>{1, 4, 4}));
}

TEST_F(AsyncPredictor, many_clients_each_get_their_own) {
  const OfflinePredictor line(line_config());
  MultiThreadAsyncPredictor predict({OnlinePredictor(line), OnlinePredictor(line)}, {.batch_size = 16});
  predict.start();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 32; ++t)
    clients.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const float x = static_cast<float>(100 * t + i);
        if (predict.put_task({HostTensor(x)}).get()[0].scalar<float>() != 3 * x + 1) ++wrong;
      }
    });
  for (auto& c : clients) c.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(AsyncPredictor, lingers_for_a_full_batch_when_asked_to) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 3, .linger_seconds = 20});
  predict.start();
  std::vector<PendingPrediction> results;
  for (int i = 0; i < 3; ++i) results.push_back(predict.put_task({HostTensor(1.f)}));
  for (const auto& r : results) EXPECT_TRUE(r.wait(10));
  EXPECT_EQ(shared->batches, std::vector<int64_t>{3});
}

// One of them always has a task ready when the other's is done: without a moment's wait each would be a batch.
TEST_F(AsyncPredictor, callers_that_come_back_share_batches) {
  constexpr int kEach = 3;
  shared->duration = std::chrono::milliseconds(300);
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 8});
  predict.start();
  const auto work = [&] {
    for (int i = 0; i < kEach; ++i) predict.put_task({HostTensor(1.f)}).get();
  };
  std::thread first(work);
  wait_for_batch();
  work();
  first.join();
  EXPECT_LT(shared->batches.size(), size_t{2 * kEach});
  EXPECT_EQ(std::accumulate(shared->batches.begin(), shared->batches.end(), int64_t{0}), 2 * kEach);
}

// Those that find no room cannot come before the batch has begun.
TEST_F(AsyncPredictor, waits_for_no_more_callers_than_there_is_room_for) {
  constexpr int kTasks = 5;
  shared->duration = std::chrono::milliseconds(100);
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 8, .capacity = 1});
  predict.start();
  const auto start = std::chrono::steady_clock::now();
  std::vector<PendingPrediction> results;
  for (int i = 0; i < kTasks; ++i) results.push_back(predict.put_task({HostTensor(1.f)}));
  for (const auto& r : results) r.get();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(shared->batches, std::vector<int64_t>(kTasks, 1));
  EXPECT_LT(taken.count(), kTasks * 0.1 + (kTasks - 1) * 0.1 * 0.1);  // that each would wait for a second one
}

TEST_F(AsyncPredictor, calls_back_with_results_and_errors) {
  std::mutex mutex;
  std::multiset<std::string> said;
  const auto note = [&](const PendingPrediction& p) {
    const std::lock_guard lock(mutex);
    try {
      said.insert(str(p.get()[0].scalar<float>()));
    } catch (const Error& e) {
      said.insert(e.what());
    }
  };
  {
    MultiThreadAsyncPredictor predict({Doubler(shared)});
    predict.start();
    const auto first = predict.put_task({HostTensor(2.f)}, note), second = predict.put_task({HostTensor(-1.f)}, note);
    EXPECT_TRUE(first.wait(10) && second.wait(10));
    const testing::Log log;
    const auto third = predict.put_task({HostTensor(1.f)}, [](const PendingPrediction&) { throw Error("oh"); });
    EXPECT_EQ(third.get()[0].scalar<float>(), 2) << "an error there is nobody else's";
  }
  EXPECT_EQ(said, (std::multiset<std::string>{"4", "negative: -1"}));
}

TEST_F(AsyncPredictor, what_is_thrown_where_a_result_is_done_with_is_nobody_elses) {
  const testing::Log log;
  MultiThreadAsyncPredictor predict({Doubler(shared)});
  predict.start();
  predict.put_task({HostTensor(1.f)}, [](const PendingPrediction&) { throw 7; }).get();
  EXPECT_EQ(predict.put_task({HostTensor(2.f)}).get()[0].scalar<float>(), 4);
  predict.stop();
  EXPECT_CONTAINS(join(log.lines), "no std::exception");
}

// The only thread that makes room cannot wait for it.
TEST_F(AsyncPredictor, what_is_done_with_a_result_may_put_further_tasks) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 1, .capacity = 1});
  close();
  predict.start();
  std::atomic<int> done = 0;
  predict.put_task({HostTensor(1.f)}, [&](const PendingPrediction&) {
    for (int i = 0; i < 3; ++i) predict.put_task({HostTensor(1.f)}, [&](const PendingPrediction&) { ++done; });
  });
  wait_for_batch();
  const PendingPrediction second = predict.put_task({HostTensor(2.f)});  // there is no more room
  open();
  EXPECT_TRUE(second.wait(10));
  const PendingPrediction last = predict.put_task({HostTensor(3.f)});
  EXPECT_TRUE(last.wait(10));
  predict.stop();
  EXPECT_EQ(done, 3);
}

TEST_F(AsyncPredictor, its_own_threads_cannot_stop_it) {
  const testing::Log log;
  MultiThreadAsyncPredictor predict({Doubler(shared), Doubler(shared)}, {.batch_size = 1});
  predict.start();
  const auto stop = [&](const PendingPrediction&) { predict.stop(); };
  std::vector<PendingPrediction> results;
  for (int i = 0; i < 8; ++i) results.push_back(predict.put_task({HostTensor(1.f)}, stop));
  for (const auto& r : results) EXPECT_TRUE(r.wait(10));
  predict.stop();
  EXPECT_CONTAINS(join(log.lines), "Leave it to another one.");
}

TEST_F(AsyncPredictor, several_threads_may_stop_it) {
  MultiThreadAsyncPredictor predict({Doubler(shared), Doubler(shared)});
  predict.start();
  std::vector<std::thread> stoppers;
  for (int i = 0; i < 4; ++i) stoppers.emplace_back([&] { predict.stop(); });
  for (auto& s : stoppers) s.join();
}

TEST_F(AsyncPredictor, a_wait_may_be_for_ever) {
  shared->duration = std::chrono::milliseconds(20);
  MultiThreadAsyncPredictor predict({Doubler(shared)});
  predict.start();
  EXPECT_TRUE(predict.put_task({HostTensor(1.f)}).wait(std::numeric_limits<double>::infinity()));
}

TEST_F(AsyncPredictor, a_stop_finishes_what_runs_and_fails_what_waits) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 1});
  close();
  predict.start();
  const PendingPrediction running = predict.put_task({HostTensor(5.f)});
  wait_for_batch();
  const PendingPrediction waiting = predict.put_task({HostTensor(6.f)});
  std::thread stopper([&] { predict.stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  open();
  stopper.join();
  EXPECT_EQ(running.get()[0].scalar<float>(), 10);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { waiting.get(); }), "stopped before this task's turn");
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { predict.put_task({HostTensor(1.f)}); }), "after stop()");
  predict.stop();
}

TEST_F(AsyncPredictor, a_stop_wakes_those_who_wait_for_room) {
  MultiThreadAsyncPredictor predict({Doubler(shared)}, {.batch_size = 1, .capacity = 1});
  close();
  predict.start();
  predict.put_task({HostTensor(1.f)});
  wait_for_batch();
  predict.put_task({HostTensor(2.f)});
  std::atomic<bool> is_refused = false;
  std::thread client([&] {
    try {
      predict.put_task({HostTensor(3.f)});
    } catch (const FailedPrecondition&) {
      is_refused = true;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::thread stopper([&] { predict.stop(); });
  client.join();
  open();
  stopper.join();
  EXPECT_TRUE(is_refused);
}

TEST_F(AsyncPredictor, wrong_use_is_refused) {
  EXPECT_CONTAINS(error_of([] { MultiThreadAsyncPredictor({}); }), "has no predictor");
  EXPECT_CONTAINS(error_of([] { MultiThreadAsyncPredictor({nullptr}); }), "predictor 0 is null");
  EXPECT_CONTAINS(error_of([&] { MultiThreadAsyncPredictor({Doubler(shared)}, {.batch_size = 0}); }), "batch_size 0");
  MultiThreadAsyncPredictor predict({Doubler(shared)});
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { predict.put_task({HostTensor(1.f)}); }), "before start()");
  predict.start();
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { predict.start(); }), "started already");
  const OfflinePredictor scalar({.tower_func = [](Tensor x) { return reduce_sum(x, {}, "sum"); },
                                 .input_signature = {{{kUnknown}, f32, "x"}},
                                 .output_names = {"sum"}});
  MultiThreadAsyncPredictor sums({OnlinePredictor(scalar)});
  sums.start();
  EXPECT_CONTAINS(error_of([&] { sums.put_task({HostTensor(1.f)}).get(); }), "needs one row for each");
}

}  // namespace
}  // namespace martello
