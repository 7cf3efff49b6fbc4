#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/update_loops.h>
#include <martello/ops/optimizer_update.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

constexpr int64_t kChunk = 16384;  // elements; a fixed cut, so that threads change nothing

const cpu::UpdateLoops& loops() {
  return cpu::of_host_isa(cpu::v2::update_loops, cpu::v3::update_loops, cpu::v4::update_loops);
}

// A piece of one variable.
struct Chunk {
  int variable;
  int64_t begin, count;
};

std::vector<Chunk> cut(const KernelPlan& plan, int64_t first, int64_t variables) {
  std::vector<Chunk> chunks;
  for (int64_t v = 0; v < variables; ++v) {
    const int64_t n = plan.in[static_cast<size_t>(first + variables + v)].shape.num_elements();
    for (int64_t begin = 0; begin < n; begin += kChunk)
      chunks.push_back({static_cast<int>(v), begin, std::min(kChunk, n - begin)});
  }
  return chunks;
}

// The lists of an update's inputs, seen by one chunk.
template <class T>
struct Lists {
  const KernelRun& run;
  int64_t first, count;
  T* at(int list, const Chunk& c) const {
    return static_cast<T*>(run.in_[first + list * count + c.variable].data) + c.begin;
  }
};

double scalar(const KernelRun& run, int input, DType dtype) {
  return dtype == f32 ? static_cast<double>(run.in<float>(input)[0]) : run.in<double>(input)[0];
}

DType group_dtype(const KernelPlan& plan, int64_t first) {
  return plan.in.size() > static_cast<size_t>(first) ? plan.in[static_cast<size_t>(first)].dtype : f32;
}

template <class T>
Kernel momentum_kernel(const KernelPlan& plan) {
  const auto a = plan.attrs<MomentumUpdateAttrs>();
  return [a, rate_dtype = plan.in[0].dtype, chunks = cut(plan, 1, a.count)](const KernelRun& run) {
    const Lists<T> lists{run, 1, a.count};
    const T rate = static_cast<T>(scalar(run, 0, rate_dtype));
    parallel_for(run.threads, static_cast<int64_t>(chunks.size()), [&](int64_t i) {
      const Chunk& c = chunks[static_cast<size_t>(i)];
      const cpu::MomentumSpan<T> span{
          lists.at(1, c), lists.at(2, c), lists.at(0, c), c.count, rate, static_cast<T>(a.momentum), a.nesterov};
      if constexpr (std::is_same_v<T, float>) loops().momentum_f32(span);
      else loops().momentum_f64(span);
    });
  };
}

template <class T>
Kernel adam_kernel(const KernelPlan& plan) {
  const auto a = plan.attrs<AdamUpdateAttrs>();
  return [a, rate_dtype = plan.in[0].dtype, chunks = cut(plan, 2, a.count)](const KernelRun& run) {
    const Lists<T> lists{run, 2, a.count};
    int64_t& step = run.target<int64_t>(1)[0];
    const auto t = static_cast<double>(++step);
    const T rate =
        static_cast<T>(scalar(run, 0, rate_dtype) * std::sqrt(1 - std::pow(a.beta2, t)) / (1 - std::pow(a.beta1, t)));
    parallel_for(run.threads, static_cast<int64_t>(chunks.size()), [&](int64_t i) {
      const Chunk& c = chunks[static_cast<size_t>(i)];
      const cpu::AdamSpan<T> span{
          lists.at(1, c), lists.at(2, c),          lists.at(3, c),          lists.at(0, c),           c.count,
          rate,           static_cast<T>(a.beta1), static_cast<T>(a.beta2), static_cast<T>(a.epsilon)};
      if constexpr (std::is_same_v<T, float>) loops().adam_f32(span);
      else loops().adam_f64(span);
    });
  };
}

}  // namespace

Kernel momentum_update_cpu(const KernelPlan& plan) {
  return group_dtype(plan, 1) == f64 ? momentum_kernel<double>(plan) : momentum_kernel<float>(plan);
}

Kernel adam_update_cpu(const KernelPlan& plan) {
  return group_dtype(plan, 2) == f64 ? adam_kernel<double>(plan) : adam_kernel<float>(plan);
}

}  // namespace martello
