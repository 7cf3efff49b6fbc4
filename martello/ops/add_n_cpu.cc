#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace martello {
namespace {

constexpr int64_t kChunk = 16384, kBlock = 1024;

// Integers are summed unsigned: overflow wraps.
template <class T>
using Summed = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// Summed aside, because y may lie on an input.
template <class T>
void sum_block(const KernelRun& run, int n, int64_t first, int64_t count) {
  std::array<Summed<T>, kBlock> sums;
  const T* x = static_cast<const T*>(run.in_[0].data) + first;
  for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] = static_cast<Summed<T>>(x[i]);
  for (int k = 1; k < n; ++k) {
    x = static_cast<const T*>(run.in_[k].data) + first;
    for (int64_t i = 0; i < count; ++i)
      sums[static_cast<size_t>(i)] =
          static_cast<Summed<T>>(sums[static_cast<size_t>(i)] + static_cast<Summed<T>>(x[i]));
  }
  T* y = static_cast<T*>(run.out_[0].data) + first;
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
}

template <class T>
Kernel add_n_of(const KernelPlan& plan) {
  return [n = static_cast<int>(plan.in.size())](const KernelRun& run) {
    const int64_t total = run.out_[0].count;
    parallel_for(run.threads, (total + kChunk - 1) / kChunk, [&](int64_t c) {
      const int64_t last = std::min(total, (c + 1) * kChunk);
      for (int64_t i = c * kChunk; i < last; i += kBlock) sum_block<T>(run, n, i, std::min(kBlock, last - i));
    });
  };
}

}  // namespace

Kernel add_n_cpu(const KernelPlan& plan) {
  switch (plan.in[0].dtype) {
    case DType::f32: return add_n_of<float>(plan);
    case DType::f64: return add_n_of<double>(plan);
    case DType::i32: return add_n_of<int32_t>(plan);
    case DType::i64: return add_n_of<int64_t>(plan);
    default: return add_n_of<uint8_t>(plan);
  }
}

}  // namespace martello
