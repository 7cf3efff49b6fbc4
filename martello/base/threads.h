#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

// The one owner of compute threads: libgomp, the pool that oneDNN uses too.
namespace martello {

// Threads a compute region may use: MARTELLO_THREADS, else OMP_NUM_THREADS, else the cores this process may run on.
int default_threads();

// Team size of parallel_for and of oneDNN calls made by this thread while the scope lives.
class ThreadCount {
 public:
  [[nodiscard]] explicit ThreadCount(int threads);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  static int current();
  static void set(int threads);  // without a scope, for the executor's loop

 private:
  int previous_;
};

// Ends the threads that this thread's regions have left waiting for the next one, which then starts them anew (50 us).
// libgomp keeps such a team for every thread that has had one and, as soon as all of them have more threads than there
// are cores, lets them sleep between regions instead of spin: a region takes 20 us longer. So a thread that may not
// compute for long, as one that has warmed a predictor up, should leave none behind. Within a region it does nothing.
void release_team();

// In which a thread runs its share.
enum class ChunkOrder : uint8_t { ascending, descending };

namespace internal {
struct Chunks {
  int64_t count;
  ChunkOrder order;
};
using RegionBody = void (*)(void* context, int thread, int64_t chunk);
void parallel_region(int threads, Chunks chunks, RegionBody body, void* context);

template <class F>
void call_chunk(F& body, int thread, int64_t i) {
  if constexpr (std::is_invocable_v<F&, int, int64_t>) body(thread, i);
  else body(i);
}

template <class F>
void for_chunks(Chunks chunks, F&& body) {
  if (chunks.order == ChunkOrder::ascending)
    for (int64_t i = 0; i < chunks.count; ++i) call_chunk(body, 0, i);
  else
    for (int64_t i = chunks.count; i-- > 0;) call_chunk(body, 0, i);
}
}  // namespace internal

// Calls body(i) for each i in [0, chunks), on at most `threads` threads, and returns when all are done; or
// body(thread, i), where `thread` is a number below `threads` that no other thread has meanwhile. Allocates nothing.
// Results must not depend on which thread runs which chunk: cut work into chunks by size, never by thread count. `body`
// must not throw.
//
// Thread 0 has the first chunks, the last thread the last ones, in either order. Kernels that cut their tensors along
// the first dimension thus find in the caches of a core what the kernel before has put there; where cores do not share
// a cache, fetching it from another one takes several times as long. Cores are never equally fast, so where there are
// several chunks per thread, one that is done with its own takes over some of the others'.
template <class F>
void parallel_for(int threads, int64_t chunks, F&& body, ChunkOrder order = ChunkOrder::ascending) {
  if (threads <= 1 || chunks <= 1) return internal::for_chunks({chunks, order}, body);
  using Body = std::remove_reference_t<F>;
  internal::parallel_region(
      threads, {chunks, order},
      [](void* context, int thread, int64_t i) { internal::call_chunk(*static_cast<Body*>(context), thread, i); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

// A part of [0, count) that a thread runs by itself.
struct Share {
  int64_t first, last;
  // Part i of `parts`, as even as can be.
  static Share of(int64_t count, int64_t i, int64_t parts) {
    const int64_t least = count / parts, rest = count % parts;
    const auto begin = [&](int64_t part) { return part * least + (part < rest ? part : rest); };
    return {begin(i), begin(i + 1)};
  }
};

// Calls body(thread, parts) once for each of `threads` parts, which the body cuts by Share::of, so that kernels which
// follow each other, as those of a layer's weights, cut them in the same places. For short work where what moves to
// another core costs its way there and back, and so no thread takes over another's part. No result may depend on it.
template <class F>
void parallel_shares(int threads, F&& body) {
  parallel_for(threads, threads, [&](int64_t i) { body(static_cast<int>(i), threads); });
}

}  // namespace martello
