#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/range.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>
#include <cstring>

namespace martello {
namespace {

constexpr int64_t kChunk = 32768;

// A product, not a running sum: element i does not depend on the others.
template <class T>
void fill_range(T* y, int64_t n, double start, double delta, int threads) {
  parallel_for(threads, ceil_div(n, kChunk), [&](int64_t c) {
    for (int64_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i)
      y[i] = static_cast<T>(start + static_cast<double>(i) * delta);
  });
}

template <class T>
void fill_integers(T* y, int64_t n, int64_t start, int64_t delta, int threads) {
  parallel_for(threads, ceil_div(n, kChunk), [&](int64_t c) {
    for (int64_t i = c * kChunk; i < std::min(n, (c + 1) * kChunk); ++i) y[i] = static_cast<T>(start + i * delta);
  });
}

Kernel range_of_inputs(const KernelPlan& plan) {
  return Kernel([is_i32 = plan.out[0].dtype == i32](const KernelRun& run) {
    const int64_t n = run.out_[0].count;
    if (is_i32)
      return fill_integers(run.out<int32_t>(0).data(), n, run.in<int32_t>(0)[0], run.in<int32_t>(2)[0], run.threads);
    fill_integers(run.out<int64_t>(0).data(), n, run.in<int64_t>(0)[0], run.in<int64_t>(2)[0], run.threads);
  });
}

template <class I>
void invert(const std::string& op, std::span<const I> p, std::span<I> y) {
  const int64_t n = static_cast<int64_t>(p.size());
  std::fill(y.begin(), y.end(), I{-1});
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = static_cast<int64_t>(p[static_cast<size_t>(i)]);
    MARTELLO_CHECK(at >= 0 && at < n, op, "p[", i, "] is ", at, ", outside [0, ", n, "). p must be a permutation.");
    I& inverse = y[static_cast<size_t>(at)];
    MARTELLO_CHECK(inverse < 0, op, "p[", i, "] and p[", inverse, "] are both ", at, ". p must be a permutation.");
    inverse = static_cast<I>(i);
  }
}

}  // namespace

Kernel range_cpu(const KernelPlan& plan) {
  if (!plan.in.empty()) return range_of_inputs(plan);
  return visit_dtype(plan.out[0].dtype, [&](auto t) -> Kernel {
    return Kernel([a = plan.attrs<RangeAttrs>()](const KernelRun& run) {
      using T = decltype(t);
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        fill_range(run.out<T>(0).data(), run.out_[0].count, a.start, a.delta, run.threads);
      } else if constexpr (sizeof(T) != 2) {
        fill_integers(run.out<T>(0).data(), run.out_[0].count, static_cast<int64_t>(a.start),
                      static_cast<int64_t>(a.delta), run.threads);
      }
    });
  });
}

Kernel eye_cpu(const KernelPlan& plan) {
  const auto& a = plan.attrs<EyeAttrs>();
  const HostTensor one = HostTensor::full(Shape(), a.dtype, 1);
  return Kernel([one, rows = a.rows, columns = a.columns](const KernelRun& run) {
    const int64_t width = one.num_bytes();
    std::byte* y = static_cast<std::byte*>(run.out_[0].data);
    if (rows * columns > 0) std::memset(y, 0, static_cast<size_t>(rows * columns * width));
    for (int64_t i = 0; i < std::min(rows, columns); ++i)
      std::memcpy(y + i * (columns + 1) * width, one.raw(), static_cast<size_t>(width));
  });
}

Kernel invert_permutation_cpu(const KernelPlan& plan) {
  const std::string op = plan.op.where();
  return Kernel([op, is_i32 = plan.in[0].dtype == i32](const KernelRun& run) {
    const size_t n = static_cast<size_t>(run.in_[0].count);
    if (is_i32) {
      invert<int32_t>(op, run.in<int32_t>(0), {static_cast<int32_t*>(run.out_[0].data), n});
    } else {
      invert<int64_t>(op, run.in<int64_t>(0), {static_cast<int64_t*>(run.out_[0].data), n});
    }
    run.set_out_rows(0, run.in_rows(0));
  });
}

}  // namespace martello
