#include <martello/base/error.h>
#include <martello/base/threads.h>

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MARTELLO_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define MARTELLO_TSAN 1
#endif

// See Note [Region].
extern "C" void GOMP_parallel(void (*body)(void*), void* context, unsigned threads, unsigned flags);
#ifdef MARTELLO_TSAN
extern "C" void __tsan_acquire(void* at);
extern "C" void __tsan_release(void* at);
#define MARTELLO_NO_TSAN __attribute__((no_sanitize("thread"), noinline))
#else
#define MARTELLO_NO_TSAN
#endif

namespace martello {
namespace {

constexpr int kMostThreads = 4096;
constexpr int kMostShares = 256;  // of a region; further threads only help
// With fewer chunks per thread, waiting takes less time than moving what a chunk reads to another core's caches.
constexpr int64_t kChunksToHelp = 4;
constexpr int64_t kMostHelped = 8;  // threads one thread looks after

// A thread's chunks, the next of which a helper may take as well.
struct alignas(64) OpenShare {
  int64_t begin, end;
  std::atomic<int64_t> taken;
};

// Note [Region]: libgomp is called by its entry point and not by `#pragma omp parallel`, because the pragma makes clang
// bring LLVM's OpenMP, a second pool beside the one that oneDNN uses. ThreadSanitizer does not see libgomp's futexes,
// so fork and join are told to it; the functions that handle them are not instrumented, and the chunks they call are.
// The marks lie in the region: shared ones would hide races between regions of different threads.
struct Region {
  internal::RegionBody body;
  void* context;
  ChunkOrder order;
  int64_t count, helped;  // shares, and how many others' a thread takes chunks of
  std::array<OpenShare, kMostShares> shares;
  [[maybe_unused]] char fork;
  [[maybe_unused]] char join;
};

MARTELLO_NO_TSAN void acquire([[maybe_unused]] char* mark) {
#ifdef MARTELLO_TSAN
  __tsan_acquire(mark);
#endif
}

MARTELLO_NO_TSAN void release([[maybe_unused]] char* mark) {
#ifdef MARTELLO_TSAN
  __tsan_release(mark);
#endif
}

MARTELLO_NO_TSAN void run_chunks(Region& region, int thread, OpenShare& share) noexcept {
  const int64_t count = share.end - share.begin;
  if (share.taken.load(std::memory_order_relaxed) >= count) return;
  for (int64_t i; (i = share.taken.fetch_add(1, std::memory_order_relaxed)) < count;)
    region.body(region.context, thread, region.order == ChunkOrder::ascending ? share.begin + i : share.end - 1 - i);
}

// The calling thread's share, then what others have left of theirs.
MARTELLO_NO_TSAN void run_share(void* region_pointer) noexcept {
  Region& region = *static_cast<Region*>(region_pointer);
  acquire(&region.fork);
  const int thread = omp_get_thread_num(), team = omp_get_num_threads();
  for (int64_t i = thread; i < region.count; i += team) run_chunks(region, thread, region.shares[i]);
  for (int64_t i = 1; i <= region.helped; ++i) run_chunks(region, thread, region.shares[(thread + i) % region.count]);
  release(&region.join);
}

// Contiguous shares, as even as can be.
MARTELLO_NO_TSAN void set_shares(Region& region, int64_t chunks) {
  for (int64_t i = 0; i < region.count; ++i) {
    const Share part = Share::of(chunks, i, region.count);
    OpenShare& share = region.shares[i];
    share.begin = part.first;
    share.end = part.last;
    share.taken.store(0, std::memory_order_relaxed);
  }
}

MARTELLO_NO_TSAN void run_region(int threads, internal::Chunks chunks, internal::RegionBody body, void* context) {
  Region region;
  region.body = body;
  region.context = context;
  region.order = chunks.order;
  region.count = std::min(threads, kMostShares);
  region.helped = chunks.count < threads * kChunksToHelp ? 0 : std::min(region.count - 1, kMostHelped);
  set_shares(region, chunks.count);
  release(&region.fork);
  // The team is as large as asked even for fewer chunks: libgomp ends threads when a team shrinks and starts them anew
  // when it grows, which costs far more than waking one in vain.
  GOMP_parallel(run_share, &region, static_cast<unsigned>(threads), 0);
  acquire(&region.join);
}

// OMP_NUM_THREADS may be a list, one number per nesting level; the first is ours.
std::optional<int> find_threads_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  const std::string first = split(value, ',').front();
  int threads = 0;
  const char* end = first.data() + first.size();
  const bool is_number = std::from_chars(first.data(), end, threads).ptr == end;
  MARTELLO_CHECK(is_number && 1 <= threads && threads <= kMostThreads, "[threads] ", variable, " is '", value,
                 "', not a number from 1 to ", kMostThreads, ". Set it to the number of cores to use, or unset it.");
  return threads;
}

}  // namespace

int default_threads() {
  if (const auto threads = find_threads_in("MARTELLO_THREADS")) return *threads;
  if (const auto threads = find_threads_in("OMP_NUM_THREADS")) return *threads;
  // Counts the affinity mask as it was before OMP_PROC_BIND bound this thread to a core of its own.
  return omp_get_num_procs();
}

ThreadCount::ThreadCount(int threads) : previous_(current()) { set(threads); }

ThreadCount::~ThreadCount() { omp_set_num_threads(previous_); }

int ThreadCount::current() { return omp_get_max_threads(); }

void ThreadCount::set(int threads) {
  MARTELLO_CHECK(1 <= threads && threads <= kMostThreads, "[threads] thread count ", threads, " is not in 1 to ",
                 kMostThreads, ".");
  omp_set_num_threads(threads);
}

void release_team() { omp_pause_resource_all(omp_pause_soft); }

namespace internal {

void parallel_region(int threads, Chunks chunks, RegionBody body, void* context) {
  if (omp_in_parallel()) return for_chunks(chunks, [&](int64_t i) { body(context, 0, i); });
  run_region(threads, chunks, body, context);
}

}  // namespace internal
}  // namespace martello
