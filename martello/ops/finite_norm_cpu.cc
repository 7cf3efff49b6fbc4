#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/finite_loops.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

constexpr int64_t kChunk = 32768;  // elements; a fixed cut, so that threads change nothing

const cpu::FiniteLoops& loops() {
  return cpu::of_host_isa(cpu::v2::finite_loops, cpu::v3::finite_loops, cpu::v4::finite_loops);
}

struct Chunk {
  int input;
  int64_t begin;
};

std::vector<Chunk> cut(const KernelPlan& plan) {
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < plan.in.size(); ++i)
    for (int64_t begin = 0; begin < plan.in[i].shape.num_elements(); begin += kChunk)
      chunks.push_back({static_cast<int>(i), begin});
  return chunks;
}

template <class T>
Kernel norm_kernel(const KernelPlan& plan) {
  const std::vector<Chunk> chunks = cut(plan);
  Kernel kernel([chunks](const KernelRun& run) {
    auto* sums = reinterpret_cast<cpu::FiniteSum*>(run.scratch);
    parallel_for(run.threads, static_cast<int64_t>(chunks.size()), [&](int64_t i) {
      const Chunk& c = chunks[static_cast<size_t>(i)];
      const T* x = static_cast<const T*>(run.in_[c.input].data) + c.begin;
      const int64_t n = std::clamp<int64_t>(run.in_[c.input].count - c.begin, 0, kChunk);
      if constexpr (std::is_same_v<T, float>) sums[i] = loops().f32(x, n);
      else sums[i] = loops().f64(x, n);
    });
    cpu::FiniteSum all;
    for (size_t i = 0; i < chunks.size(); ++i) {
      all.squares += sums[i].squares;
      all.is_finite = all.is_finite && sums[i].is_finite;
    }
    if (!all.is_finite) run.params->is_bad = 1;
    run.out<T>(0)[0] = static_cast<T>(std::sqrt(all.squares));
  });
  return kernel.scratch(checked_mul(static_cast<int64_t>(chunks.size()), sizeof(cpu::FiniteSum)));
}

}  // namespace

Kernel finite_norm_cpu(const KernelPlan& plan) {
  return plan.in[0].dtype == f64 ? norm_kernel<double>(plan) : norm_kernel<float>(plan);
}

}  // namespace martello
