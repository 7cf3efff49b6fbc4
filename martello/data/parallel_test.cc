#include <martello/data/internal/test_flow.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <set>
#include <stdexcept>
#include <thread>

namespace martello::data {
namespace {

using namespace internal;
using Clock = std::chrono::steady_clock;

int thread_count() {
  int threads = 0;
  FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "Threads: %d", &threads) != 1) {
  }
  std::fclose(file);
  return threads;
}

void sleep_ms(double ms);
// A thread that was joined may still be counted for a moment.
int settled_thread_count() {
  int least = thread_count();
  for (int i = 0; i < 20; ++i, sleep_ms(5)) least = std::min(least, thread_count());
  return least;
}

void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }
double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Datapoint tripled(Datapoint dp) { return Datapoint{dp[0].scalar<int64_t>() * 3}; }
Datapoint noisy(Datapoint dp, Rng& rng) { return Datapoint{dp[0].scalar<int64_t>() * 1000 + rng.below(1000)}; }
// Later datapoints are ready first.
Datapoint uneven(Datapoint dp) {
  sleep_ms(dp[0].scalar<int64_t>() % 4 == 0 ? 1.5 : 0);
  return dp;
}

TEST(ParallelMap, has_the_order_and_the_random_numbers_of_map_with_any_number_of_threads) {
  for (const DataFlowRef& source : {count_to(60).shuffle(), generate_to(60)}) {
    const auto expected = numbers(source.map(noisy), {3, 2});
    for (int threads = 1; threads <= 8; ++threads)
      for (int64_t buffer : {1, 3000, 1 << 20})
        EXPECT_EQ(numbers(source.parallel_map(noisy, {.threads = threads, .buffer_bytes = buffer}), {3, 2}), expected);
  }
}

TEST(ParallelMap, keeps_what_every_flow_promises) {
  for (int threads : {1, 2, 3, 8}) {
    check_flow(count_to(30).parallel_map(uneven, {.threads = threads}));
    check_flow(generate_to(20).parallel_map(noisy, {.threads = threads, .buffer_bytes = 1000}));
  }
  check_flow(count_to(30).parallel_map(
      [](Datapoint dp) -> std::optional<Datapoint> {
        if (dp[0].scalar<int64_t>() % 3 == 0) return std::nullopt;
        return dp;
      },
      {.threads = 3}));
  check_flow(count_to(0).parallel_map(tripled, {.threads = 4}));
}

TEST(Prefetch, changes_nothing) {
  check_flow(count_to(30).prefetch());
  check_flow(generate_to(30).prefetch({.buffer_bytes = 1}));
  check_flow(count_to(20).shuffle().prefetch().map(tripled).prefetch().batch(3).prefetch());
  check_flow(count_to(20).shuffle_locally(5).prefetch());
}

TEST(ParallelMap, unordered_loses_and_repeats_nothing) {
  const Silence silence;
  for (int threads = 1; threads <= 8; ++threads) {
    const auto flow = count_to(60).parallel_map(uneven, {.threads = threads, .ordered = false});
    EXPECT_FALSE(flow->is_exact());
    EXPECT_EQ(sorted(numbers(flow)), numbers(count_to(60))) << threads;
  }
}

TEST(ParallelMap, unordered_resumes_with_a_watermark_and_what_was_delivered) {
  const Silence silence;
  const auto unordered = count_to(40).parallel_map(uneven, {.threads = 4, .ordered = false});
  for (const DataFlowRef& flow : {unordered, unordered.prefetch(), unordered.map(tripled).prefetch().batch(1)}) {
    for (size_t at = 0; at <= 40; at += 3) {
      const auto iterator = flow->iterate({});
      List all = read(*iterator, at);
      const std::string position = save_state(*iterator);
      const auto restored = flow->iterate({});
      restore_state(*restored, position);
      for (Datapoint& dp : read(*restored, 7)) all.push_back(std::move(dp));
      const std::string second = save_state(*restored);
      const auto again = flow->iterate({});
      restore_state(*again, second);
      for (Datapoint& dp : read(*again)) all.push_back(std::move(dp));
      const auto got = numbers(all);
      EXPECT_EQ(got.size(), 40u);
      EXPECT_EQ(std::set<int64_t>(got.begin(), got.end()).size(), 40u) << flow.description() << " at " << at;
    }
  }
}

TEST(ParallelMap, unordered_does_not_wait_for_a_slow_first) {
  const Silence silence;
  std::atomic<bool> may_finish = false;
  const auto flow = count_to(30).parallel_map(
      [&](Datapoint dp) {
        while (dp[0].scalar<int64_t>() == 0 && !may_finish) sleep_ms(1);
        return dp;
      },
      {.threads = 2, .ordered = false});
  const auto iterator = flow->iterate({});
  EXPECT_EQ(read(*iterator, 29).size(), 29u);
  may_finish = true;
  EXPECT_EQ(numbers(read(*iterator)), (std::vector<int64_t>{0}));
}

TEST(ParallelMap, says_at_the_start_that_unordered_is_not_exact) {
  std::string log;
  logger::set_sink([&](logger::Level, std::string_view line) { log += line; });
  count_to(3).parallel_map(tripled, {.ordered = false})->iterate({});
  logger::set_sink({});
  EXPECT_TRUE(contains(log, "is not ordered: a resumed run reads the same datapoints, but not in the same order"))
      << log;
}

TEST(ParallelMap, an_error_comes_after_the_datapoints_before_it_and_stays) {
  for (int threads : {1, 2, 8}) {
    const auto flow = count_to(50)
                          .parallel_map(
                              [](Datapoint dp) {
                                if (dp[0].scalar<int64_t>() == 20) throw std::runtime_error("broken jpeg");
                                return dp;
                              },
                              {.threads = threads, .name = "decode"})
                          .batch(5)
                          .prefetch();
    const auto iterator = flow->iterate({});
    EXPECT_EQ(read(*iterator, 4).size(), 4u);
    for (int i = 0; i < 3; ++i) {
      const std::string text = error_of([&] { iterator->next(); });
      EXPECT_TRUE(contains(text, "broken jpeg") && contains(text, "in data stage parallel_map 'decode'")) << text;
    }
  }
}

TEST(ParallelMap, an_error_of_the_source_reaches_the_consumer) {
  const auto source = from_generator([](Pass) -> Generator<Datapoint> {
    for (int64_t i = 0; i < 10; ++i) co_yield Datapoint{i};
    throw std::runtime_error("connection lost");
  });
  const Silence silence;
  for (bool ordered : {true, false}) {
    const auto iterator = source.parallel_map(tripled, {.threads = 3, .ordered = ordered})->iterate({});
    const std::string text = error_of([&] { read(*iterator); });
    EXPECT_TRUE(contains(text, "connection lost") && contains(text, "from_generator")) << text;
    EXPECT_ERROR(iterator->next(), "connection lost");
  }
}

TEST(ParallelMap, a_restored_iterator_has_forgotten_its_error) {
  std::atomic<bool> is_broken = true;
  const auto flow = count_to(10).parallel_map(
      [&](Datapoint dp) {
        if (is_broken && dp[0].scalar<int64_t>() == 6) throw std::runtime_error("broken");
        return dp;
      },
      {.threads = 2});
  const auto iterator = flow->iterate({});
  read(*iterator, 4);
  const std::string position = save_state(*iterator);
  EXPECT_ERROR(read(*iterator), "broken");
  is_broken = false;
  restore_state(*iterator, position);
  EXPECT_EQ(numbers(read(*iterator)), (std::vector<int64_t>{4, 5, 6, 7, 8, 9}));
}

TEST(Threads, start_with_the_first_datapoint_and_are_joined) {
  const int before = settled_thread_count();
  const auto flow = count_to(1000000).parallel_map(tripled, {.threads = 3}).prefetch();
  auto iterator = flow->iterate({});
  EXPECT_EQ(settled_thread_count(), before);
  iterator->next();
  EXPECT_EQ(thread_count(), before + 4);
  iterator.reset();
  EXPECT_EQ(settled_thread_count(), before);
}

TEST(Threads, a_thousand_iterators_leave_nothing_behind) {
  const int before = settled_thread_count();
  const auto flow = count_to(100).parallel_map(tripled, {.threads = 2}).prefetch();
  for (int i = 0; i < 1000; ++i) flow->iterate({})->next();
  EXPECT_EQ(settled_thread_count(), before);
}

TEST(Threads, stop_quickly_while_full_and_while_empty) {
  const auto endless = count_to(10).repeat();
  for (const DataFlowRef& flow :
       {endless.prefetch({.buffer_bytes = 5000}), endless.parallel_map(uneven, {.threads = 4}).batch(7).prefetch()}) {
    auto iterator = flow->iterate({});
    iterator->next();
    sleep_ms(20);
    const auto start = Clock::now();
    iterator.reset();
    EXPECT_LT(ms_since(start), 500);
  }
}

TEST(Threads, do_not_spin_while_they_wait) {
  const auto flow = count_to(1000)
                        .repeat()
                        .parallel_map(tripled, {.threads = 4, .buffer_bytes = 1000})
                        .prefetch({.buffer_bytes = 1000});
  const auto iterator = flow->iterate({});
  iterator->next();
  sleep_ms(30);
  const std::clock_t start = std::clock();
  sleep_ms(300);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.05);
}

TEST(Interrupt, ends_a_wait_for_a_slow_source) {
  const auto waiting = from_generator([](Pass pass) -> Generator<Datapoint> {
    while (!pass.is_interrupted()) sleep_ms(1);
    co_yield Datapoint{int64_t{1}};
  });
  for (const DataFlowRef& flow : {waiting.prefetch(), waiting.parallel_map(tripled, {.threads = 2}).batch(1).prefetch(),
                                  waiting.repeat().prefetch().batch(2).prefetch()}) {
    const auto raised = std::make_shared<Interrupt>();
    const auto iterator = flow->iterate(Pass{.interrupt = raised});
    std::thread stopper([&] {
      sleep_ms(20);
      raised->raise();
    });
    const auto start = Clock::now();
    EXPECT_THROW(iterator->next(), Interrupted);
    EXPECT_LT(ms_since(start), 2000);
    stopper.join();
  }
}

TEST(Interrupt, a_flow_that_is_dropped_interrupts_what_is_below) {
  const auto waiting = from_generator([](Pass pass) -> Generator<Datapoint> {
    co_yield Datapoint{int64_t{1}};
    while (!pass.is_interrupted()) sleep_ms(1);
  });
  auto iterator = waiting.prefetch().map(tripled).prefetch()->iterate({});
  iterator->next();
  const auto start = Clock::now();
  iterator.reset();
  EXPECT_LT(ms_since(start), 2000);
}

TEST(Interrupt, raised_before_the_start_counts_too) {
  const auto raised = std::make_shared<Interrupt>();
  raised->raise();
  EXPECT_THROW(all_of(count_to(5).prefetch(), Pass{.interrupt = raised}), Interrupted);
}

TEST(Buffer, is_bounded_in_bytes_and_always_admits_the_first) {
  std::atomic<int64_t> made = 0;
  const auto source = from_index(1000, [&](int64_t, Rng&) {
    ++made;
    return Datapoint{HostTensor({100000}, u8)};
  });
  const auto iterator = source.prefetch({.buffer_bytes = 1000000})->iterate({});
  iterator->next();
  sleep_ms(100);
  EXPECT_LE(made, 12);
  EXPECT_GE(made, 5);
  made = 0;
  EXPECT_EQ(all_of(source.take(20).prefetch({.buffer_bytes = 1})).size(), 20u);
}

TEST(Buffer, of_empty_datapoints_is_bounded_too) {
  std::atomic<int64_t> made = 0;
  const auto source = from_index(int64_t{1} << 40, [&](int64_t, Rng&) { return ++made, Datapoint(); });
  const auto iterator = source.prefetch({.buffer_bytes = 100000})->iterate({});
  iterator->next();
  sleep_ms(50);
  EXPECT_LE(made, 1000);
}

TEST(ParallelMap, unordered_is_refused_by_stages_that_number_datapoints) {
  const auto unordered = count_to(3).parallel_map(tripled, {.ordered = false});
  EXPECT_ERROR(unordered.map(tripled).shuffle_locally(2),
               "would lose and repeat datapoints. Put shuffle_locally() before");
  EXPECT_ERROR(unordered.cache(), "Put cache() before the map");
}

TEST(ParallelMap, refuses_strange_options) {
  EXPECT_ERROR(count_to(3).parallel_map(tripled, {.threads = -1}), "-1 threads");
  EXPECT_ERROR(count_to(3).parallel_map(tripled, {.threads = 100000}), "100000 threads");
  EXPECT_ERROR(count_to(3).parallel_map(tripled, {.buffer_bytes = 0}), "a buffer of 0 bytes");
  EXPECT_ERROR(count_to(3).prefetch({.buffer_bytes = -5}), "a buffer of -5 bytes");
}

}  // namespace
}  // namespace martello::data
