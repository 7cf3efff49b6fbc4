#include <martello/base/error.h>
#include <martello/base/threads.h>

#include <omp.h>

#include <algorithm>
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

// Note [Region]: libgomp is called by its entry point and not by `#pragma omp parallel`, because the pragma makes clang
// bring LLVM's OpenMP, a second pool beside the one that oneDNN uses. ThreadSanitizer does not see libgomp's futexes,
// so fork and join are told to it; the functions that handle them are not instrumented, and the chunks they call are.
// The marks lie in the region: shared ones would hide races between regions of different threads.
struct Region {
  void (*body)(void*, int64_t);
  void* context;
  internal::Chunks chunks;
  [[maybe_unused]] char fork = 0;
  [[maybe_unused]] char join = 0;
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

// The calling thread's contiguous share of the chunks.
MARTELLO_NO_TSAN void run_share(void* region_pointer) noexcept {
  Region& region = *static_cast<Region*>(region_pointer);
  acquire(&region.fork);
  const int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
  const int64_t share = region.chunks.count / team, rest = region.chunks.count % team;
  const int64_t begin = thread * share + (thread < rest ? thread : rest);
  const int64_t end = begin + share + (thread < rest ? 1 : 0);
  internal::for_chunks(begin, end, region.chunks.order, [&](int64_t i) { region.body(region.context, i); });
  release(&region.join);
}

MARTELLO_NO_TSAN void run_region(int threads, Region region) {
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

namespace internal {

void parallel_region(int threads, Chunks chunks, void (*body)(void*, int64_t), void* context) {
  if (omp_in_parallel()) return for_chunks(0, chunks.count, chunks.order, [&](int64_t i) { body(context, i); });
  run_region(threads, {body, context, chunks});
}

}  // namespace internal
}  // namespace martello
