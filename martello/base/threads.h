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

namespace internal {
void parallel_region(int threads, int64_t chunks, void (*body)(void*, int64_t), void* context);
}

// Calls body(i) for each i in [0, chunks), on at most `threads` threads, and returns when all are done. Allocates
// nothing. Which thread runs which chunk is not fixed, so results must not depend on it: cut work into chunks by size,
// never by thread count. `body` must not throw.
template <class F>
void parallel_for(int threads, int64_t chunks, F&& body) {
  if (threads <= 1 || chunks <= 1) {
    for (int64_t i = 0; i < chunks; ++i) body(i);
    return;
  }
  using Body = std::remove_reference_t<F>;
  internal::parallel_region(
      threads, chunks, [](void* context, int64_t i) { (*static_cast<Body*>(context))(i); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace martello
