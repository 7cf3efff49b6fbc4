#include <martello/base/threads.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

constexpr int64_t kChunkBytes = 1 << 18;

// Calls f(begin, end) over [0, count) in chunks of a fixed size.
template <class F>
void in_chunks(int threads, int64_t count, int64_t element_bytes, const F& f) {
  const int64_t chunk = std::max<int64_t>(1, kChunkBytes / element_bytes);
  parallel_for(threads, (count + chunk - 1) / chunk,
               [&](int64_t i) { f(i * chunk, std::min(count, (i + 1) * chunk)); });
}

void copy_bytes(int threads, void* to, const void* from, int64_t bytes) {
  in_chunks(threads, bytes, 1, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

// Signed overflow wraps, as in every integer op.
template <class T>
T wrapping(T a, T b, bool is_add) {
  if constexpr (std::is_same_v<T, bool>) {
    return a;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(is_add ? static_cast<U>(a) + static_cast<U>(b) : static_cast<U>(a) - static_cast<U>(b));
  } else {
    return static_cast<T>(is_add ? a + b : a - b);
  }
}

Kernel accumulate_kernel(const KernelPlan& plan, bool is_add) {
  const bool is_scalar = plan.in[1].shape.rank() == 0;
  return visit_dtype(plan.in[0].dtype, [&](auto zero) -> Kernel {
    using T = decltype(zero);
    return [is_scalar, is_add](const KernelRun& run) {
      const auto v = run.target<T>(0);
      const T* value = run.in<T>(1).data();
      in_chunks(run.threads, static_cast<int64_t>(v.size()), sizeof(T), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          v[static_cast<size_t>(i)] = wrapping(v[static_cast<size_t>(i)], value[is_scalar ? 0 : i], is_add);
      });
    };
  });
}

}  // namespace

Kernel assign_cpu(const KernelPlan& plan) {
  const int64_t element = size_of(plan.in[0].dtype);
  if (plan.in[1].shape.rank() != 0 || plan.in[0].shape.rank() == 0)
    return [element](const KernelRun& run) {
      copy_bytes(run.threads, run.in_[0].data, run.in_[1].data, run.in_[0].count * element);
    };
  return visit_dtype(plan.in[0].dtype, [](auto zero) -> Kernel {
    using T = decltype(zero);
    return [](const KernelRun& run) {
      const auto v = run.target<T>(0);
      std::fill(v.begin(), v.end(), run.in<T>(1)[0]);
    };
  });
}

Kernel assign_add_cpu(const KernelPlan& plan) { return accumulate_kernel(plan, true); }
Kernel assign_sub_cpu(const KernelPlan& plan) { return accumulate_kernel(plan, false); }

Kernel copy_cpu(const KernelPlan& plan) {
  const int64_t element = size_of(plan.in[0].dtype);
  return [element](const KernelRun& run) {
    copy_bytes(run.threads, run.out_[0].data, run.in_[0].data, run.in_[0].count * element);
  };
}

Kernel advance_counter_cpu(const KernelPlan&) {
  return [](const KernelRun& run) { run.target<int64_t>(0)[static_cast<size_t>(run.params->stream)] += 1; };
}

}  // namespace martello
