#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/dropout.h>
#include <martello/ops/internal/dropout_loops.h>
#include <martello/ops/internal/random_plan.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

constexpr int64_t kChunkGroups = 256;

template <class T>
auto host_loop() {
  const cpu::DropoutLoops& loops =
      cpu::of_host_isa(cpu::v2::dropout_loops, cpu::v3::dropout_loops, cpu::v4::dropout_loops);
  if constexpr (std::is_same_v<T, float>) return loops.run_f32;
  else return loops.run_f64;
}

template <class T>
Kernel dropout_kernel(const KernelPlan& plan) {
  const auto& a = plan.attrs<DropoutAttrs>();
  const internal::RandomPlan p = internal::make_random_plan(plan, a.key, cpu::kDropoutGroup / cpu::kDropoutBlocks);
  const int64_t row_groups = ceil_div(p.task.row_elements, cpu::kDropoutGroup);
  const uint32_t limit = static_cast<uint32_t>(std::min(std::round(a.rate * 0x1p31), 0x1p31 - 1));
  return Kernel([=, scale = static_cast<T>(1 / (1 - a.rate)), loop = host_loop<T>()](const KernelRun& run) {
    const cpu::DropoutTask<T> whole{internal::make_random_task(run, p), limit, scale,
                                    static_cast<const T*>(run.in_[1].data), static_cast<T*>(run.out_[0].data)};
    const int64_t groups = run.in_rows(1) * row_groups;
    parallel_for(run.threads, ceil_div(groups, kChunkGroups), [&](int64_t i) {
      cpu::DropoutTask<T> task = whole;
      task.random.first_block = i * kChunkGroups;
      task.random.blocks = std::min(kChunkGroups, groups - task.random.first_block);
      loop(task);
    });
    run.set_out_rows(0, run.in_rows(1));
  });
}

}  // namespace

Kernel dropout_cpu(const KernelPlan& plan) {
  return plan.in[1].dtype == f32 ? dropout_kernel<float>(plan) : dropout_kernel<double>(plan);
}

}  // namespace martello
