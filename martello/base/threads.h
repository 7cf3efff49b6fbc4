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

// In which a thread runs its share.
enum class ChunkOrder : uint8_t { ascending, descending };

namespace internal {
struct Chunks {
  int64_t count;
  ChunkOrder order;
};
void parallel_region(int threads, Chunks chunks, void (*body)(void*, int64_t), void* context);

template <class F>
void for_chunks(int64_t begin, int64_t end, ChunkOrder order, F&& body) {
  if (order == ChunkOrder::ascending)
    for (int64_t i = begin; i < end; ++i) body(i);
  else
    for (int64_t i = end; i-- > begin;) body(i);
}
}  // namespace internal

// Calls body(i) for each i in [0, chunks), on at most `threads` threads, and returns when all are done. Allocates
// nothing. Results must not depend on which thread runs which chunk: cut work into chunks by size, never by thread
// count. `body` must not throw.
//
// Thread 0 has the first chunks, the last thread the last ones, in either order. Kernels that cut their tensors along
// the first dimension thus find in the caches of a core what the kernel before has put there; where cores do not share
// a cache, fetching it from another one takes several times as long.
template <class F>
void parallel_for(int threads, int64_t chunks, F&& body, ChunkOrder order = ChunkOrder::ascending) {
  if (threads <= 1 || chunks <= 1) return internal::for_chunks(0, chunks, order, body);
  using Body = std::remove_reference_t<F>;
  internal::parallel_region(
      threads, {chunks, order}, [](void* context, int64_t i) { (*static_cast<Body*>(context))(i); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace martello
