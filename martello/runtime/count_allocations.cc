#include <martello/runtime/internal/count_allocations.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <new>

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
// Also what the standard library forwards to the first one, which a sanitizer replaces by itself.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  count();
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace martello::testing {

void start_counting_allocations() {
  allocations = 0;
  is_counting = true;
}

int64_t stop_counting_allocations() {
  is_counting = false;
  return allocations;
}

}  // namespace martello::testing
