#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/cast_loops.h>
#include <martello/tensor/internal/convert.h>

#include <algorithm>

namespace martello {

const cpu::CastLoops& cpu::cast_loops() { return of_host_isa(v2::bf16_loops, v3::bf16_loops, v4::bf16_loops); }

namespace {

// bool is read as bytes: one that came from outside may be any byte.
template <class From>
auto load(const void* x, int64_t i) {
  if constexpr (std::is_same_v<From, bool>) return static_cast<const uint8_t*>(x)[i] != 0;
  else return static_cast<const From*>(x)[i];
}

template <class To, class From>
void cast_chunk(const void* x, void* y, int64_t first, int64_t last) {
  if constexpr (std::is_same_v<To, BFloat16> && std::is_same_v<From, float>) {
    cpu::cast_loops().narrow(static_cast<const float*>(x) + first, static_cast<uint16_t*>(y) + first, last - first);
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, BFloat16>) {
    cpu::cast_loops().widen(static_cast<const uint16_t*>(x) + first, static_cast<float*>(y) + first, last - first);
  } else {
    for (int64_t i = first; i < last; ++i) static_cast<To*>(y)[i] = internal::converted<To>(load<From>(x, i));
  }
}

using CastChunk = void (*)(const void*, void*, int64_t, int64_t);

CastChunk chunk_of(DType to, DType from) {
  return visit_dtype(to, [&]<class To>(To) {
    return visit_dtype(from, []<class From>(From) -> CastChunk { return cast_chunk<To, From>; });
  });
}

constexpr int64_t kChunk = 16384;

template <class F>
void for_chunks(const KernelRun& run, const F& body) {
  const int64_t count = run.out_[0].count;
  parallel_for(run.threads, (count + kChunk - 1) / kChunk,
               [&](int64_t i) { body(i * kChunk, std::min(count, (i + 1) * kChunk)); });
}

Kernel fill_cpu(DType dtype, double value) {
  return visit_dtype(dtype, [&]<class T>(T) -> Kernel {
    return [v = internal::converted<T>(value)](const KernelRun& run) {
      T* y = static_cast<T*>(run.out_[0].data);
      for_chunks(run, [=](int64_t first, int64_t last) { std::fill(y + first, y + last, v); });
    };
  });
}

}  // namespace

Kernel cast_cpu(const KernelPlan& plan) {
  return [chunk = chunk_of(plan.out[0].dtype, plan.in[0].dtype)](const KernelRun& run) {
    const void* x = run.in_[0].data;
    void* y = run.out_[0].data;
    for_chunks(run, [=](int64_t first, int64_t last) { chunk(x, y, first, last); });
  };
}

Kernel zeros_like_cpu(const KernelPlan& plan) { return fill_cpu(plan.out[0].dtype, 0); }
Kernel ones_like_cpu(const KernelPlan& plan) { return fill_cpu(plan.out[0].dtype, 1); }

}  // namespace martello
