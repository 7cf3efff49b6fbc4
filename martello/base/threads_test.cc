#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/internal/test_threads.h>
#include <martello/base/threads.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <set>
#include <thread>
#include <vector>

namespace martello {
namespace {

using testing::error_of;
using testing::threads_of_process;

struct Environment {
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Environment() { old_.empty() ? unsetenv(name_) : setenv(name_, old_.c_str(), 1); }
  const char* name_;
  std::string old_;
};

std::vector<int> visits(int threads, int64_t chunks) {
  std::vector<int> count(static_cast<size_t>(chunks));
  parallel_for(threads, chunks, [&](int64_t i) { ++count[static_cast<size_t>(i)]; });
  return count;
}

std::vector<int> once(int64_t chunks) { return std::vector<int>(static_cast<size_t>(chunks), 1); }

TEST(ParallelFor, covers_each_chunk_exactly_once) {
  for (int threads : {1, 2, 4, 300}) {
    for (int64_t chunks : {0, 1, 2, 3, 4, 5, 7, 100, 1001, 5000}) EXPECT_EQ(visits(threads, chunks), once(chunks));
  }
}

TEST(ParallelFor, uses_more_than_one_thread) {
  std::atomic<int> arrived = 0;
  parallel_for(2, 2, [&](int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Share, parts_are_even_and_cover_all) {
  for (int64_t count : {0, 1, 2, 7, 16, 1000})
    for (int64_t parts : {1, 2, 3, 8}) {
      int64_t at = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const Share share = Share::of(count, i, parts);
        EXPECT_EQ(share.first, at);
        EXPECT_LE(share.last - share.first - count / parts, 1);
        EXPECT_GE(share.last, share.first + count / parts);
        at = share.last;
      }
      EXPECT_EQ(at, count);
    }
}

TEST(ParallelShares, each_is_run_once_also_within_a_region) {
  for (int threads : {1, 2, 5}) {
    std::vector<int> count(static_cast<size_t>(threads));
    parallel_shares(threads, [&](int thread, int parts) {
      EXPECT_EQ(parts, threads);
      ++count[static_cast<size_t>(thread)];
    });
    EXPECT_EQ(count, once(threads));
    std::vector<int> nested(static_cast<size_t>(threads * threads));
    parallel_shares(threads, [&](int outer, int) {
      parallel_shares(threads, [&](int inner, int) { ++nested[static_cast<size_t>(outer * threads + inner)]; });
    });
    EXPECT_EQ(nested, once(threads * threads));
  }
}

TEST(ParallelFor, gives_each_thread_one_contiguous_share) {
  constexpr int kThreads = 4;
  std::vector<std::thread::id> owner(10);
  parallel_for(kThreads, 10, [&](int64_t i) { owner[static_cast<size_t>(i)] = std::this_thread::get_id(); });
  int changes = 0;
  for (size_t i = 1; i < owner.size(); ++i) changes += owner[i] != owner[i - 1];
  EXPECT_EQ(changes, kThreads - 1);
  EXPECT_EQ(std::set(owner.begin(), owner.end()).size(), size_t{kThreads});
}

// What a thread has put into its caches in one pass it finds there in the next.
TEST(ParallelFor, gives_each_thread_the_same_share_in_either_order) {
  for (int threads : {1, 2, 3, 4}) {
    constexpr int64_t kChunks = 7;  // so few that no thread helps another
    std::vector<std::thread::id> up(kChunks), down(kChunks);
    std::vector<int> when(kChunks);
    std::atomic<int> now = 0;
    parallel_for(threads, kChunks, [&](int64_t i) { up[static_cast<size_t>(i)] = std::this_thread::get_id(); });
    const auto note = [&](int64_t i) {
      down[static_cast<size_t>(i)] = std::this_thread::get_id();
      when[static_cast<size_t>(i)] = now++;
    };
    parallel_for(threads, kChunks, note, ChunkOrder::descending);
    EXPECT_EQ(up, down);
    for (size_t i = 1; i < when.size(); ++i) {
      if (down[i] != down[i - 1]) continue;
      EXPECT_LT(when[i], when[i - 1]) << i << " of " << threads << " threads";
    }
  }
}

TEST(ParallelFor, takes_over_the_chunks_of_a_thread_that_is_late) {
  constexpr int kChunks = 16;
  for (int64_t late : {0, kChunks / 2}) {
    for (ChunkOrder order : {ChunkOrder::ascending, ChunkOrder::descending}) {
      const int64_t chunk = order == ChunkOrder::ascending ? late : kChunks - 1 - late;
      std::atomic<int> done = 0;
      bool all_others = false;
      const auto body = [&](int64_t i) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (i == chunk && !all_others && std::chrono::steady_clock::now() < end) all_others = done == kChunks - 1;
        ++done;
      };
      parallel_for(2, kChunks, body, order);
      EXPECT_TRUE(all_others) << "chunk " << chunk;
    }
  }
}

TEST(ParallelFor, gives_chunks_that_run_at_once_different_threads) {
  for (int threads : {1, 2, 5, 300}) {
    std::vector<std::atomic<int>> running(static_cast<size_t>(threads));
    std::atomic<int> clashes = 0, count = 0;
    parallel_for(threads, 5000, [&](int thread, int64_t) {
      clashes += running.at(static_cast<size_t>(thread))++ != 0;
      if (++count % 64 == 0) std::this_thread::yield();
      --running[static_cast<size_t>(thread)];
    });
    EXPECT_EQ(clashes, 0) << threads;
    EXPECT_EQ(count, 5000) << threads;
  }
}

TEST(ParallelFor, on_one_thread_runs_in_order_on_the_caller) {
  std::vector<int64_t> order;
  const auto note = [&](int64_t i) { order.push_back(i); };
  parallel_for(1, 5, note);
  parallel_for(1, 3, note, ChunkOrder::descending);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4, 2, 1, 0}));
}

TEST(ParallelFor, nested_covers_each_chunk_once_on_the_thread_of_the_outer_chunk) {
  constexpr int64_t kOuter = 8, kInner = 50;
  std::vector<int> count(kOuter * kInner);
  std::atomic<int> strangers = 0;
  parallel_for(4, kOuter, [&](int64_t i) {
    const auto outer = std::this_thread::get_id();
    parallel_for(4, kInner, [&](int64_t j) {
      ++count[static_cast<size_t>(i * kInner + j)];
      strangers += std::this_thread::get_id() != outer;
    });
  });
  EXPECT_EQ(count, once(kOuter * kInner));
  EXPECT_EQ(strangers, 0);
}

TEST(ParallelFor, plain_writes_are_seen_by_the_next_region_and_by_the_caller) {
  std::vector<int64_t> x(1000), y(1000);
  for (int round = 0; round < 20; ++round) {
    for (int64_t& v : x) ++v;
    parallel_for(4, 1000, [&](int64_t i) { y[static_cast<size_t>(i)] += x[static_cast<size_t>(i)]; });
    parallel_for(4, 1000, [&](int64_t i) { x[static_cast<size_t>(i)] = y[static_cast<size_t>(999 - i)]; });
  }
  EXPECT_EQ(x.front(), x.back());
  EXPECT_EQ(x.front(), (int64_t{1} << 20) - 1);
}

TEST(ParallelFor, runs_from_several_threads_at_once) {
  std::vector<std::thread> callers;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 5; ++round) good += visits(2, 64) == once(64);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 20);
}

TEST(ParallelFor, takes_a_body_that_is_const_or_by_value) {
  std::atomic<int64_t> sum = 0;
  const auto body = [&](int64_t i) { sum += i; };
  parallel_for(2, 10, body);
  parallel_for(2, 10, std::ref(body));
  EXPECT_EQ(sum, 90);
}

TEST(ReleaseTeam, ends_the_threads_that_wait_for_the_next_region) {
  release_team();
  const size_t before = threads_of_process();
  EXPECT_EQ(visits(3, 100), once(100));
  EXPECT_EQ(threads_of_process(), before + 2);
  release_team();
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_EQ(visits(3, 100), once(100));
}
TEST(ReleaseTeam, leaves_a_region_alone_that_it_is_called_in) {
  std::vector<int> count(100);
  parallel_for(3, 100, [&](int64_t i) {
    release_team();
    ++count[static_cast<size_t>(i)];
  });
  EXPECT_EQ(count, once(100));
}

TEST(ThreadCount, holds_in_its_scope_and_is_restored) {
  const int before = ThreadCount::current();
  {
    const ThreadCount outer(3);
    EXPECT_EQ(ThreadCount::current(), 3);
    {
      const ThreadCount inner(1);
      EXPECT_EQ(ThreadCount::current(), 1);
    }
    EXPECT_EQ(ThreadCount::current(), 3);
    ThreadCount::set(2);
    EXPECT_EQ(ThreadCount::current(), 2);
  }
  EXPECT_EQ(ThreadCount::current(), before);
}

TEST(ThreadCount, belongs_to_the_calling_thread) {
  const ThreadCount here(3);
  std::thread([] { ThreadCount::set(2); }).join();
  EXPECT_EQ(ThreadCount::current(), 3);
}

TEST(ThreadCount, refuses_less_than_one) {
  EXPECT_THROW(const ThreadCount none(0), InvalidArgument);
  EXPECT_THROW(ThreadCount::set(-1), InvalidArgument);
}

TEST(DefaultThreads, martello_threads_wins_over_omp_num_threads) {
  const Environment ours("MARTELLO_THREADS", "3"), theirs("OMP_NUM_THREADS", "5");
  EXPECT_EQ(default_threads(), 3);
}

TEST(DefaultThreads, takes_the_first_of_an_omp_num_threads_list) {
  const Environment ours("MARTELLO_THREADS", nullptr), theirs("OMP_NUM_THREADS", "5,2");
  EXPECT_EQ(default_threads(), 5);
}

TEST(DefaultThreads, counts_the_cores_this_process_may_run_on) {
  const Environment ours("MARTELLO_THREADS", nullptr), theirs("OMP_NUM_THREADS", "");
  std::thread([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(default_threads(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(default_threads(), 1);
  }).join();
}

TEST(DefaultThreads, refuses_what_is_no_count_and_names_the_variable) {
  for (const char* bad : {"0", "-2", "two", "2x", "99999999999", ","}) {
    const Environment ours("MARTELLO_THREADS", bad);
    const std::string text = error_of<InvalidArgument>([&] { default_threads(); });
    EXPECT_CONTAINS(text, "MARTELLO_THREADS is '" + std::string(bad));
  }
}

}  // namespace
}  // namespace martello
