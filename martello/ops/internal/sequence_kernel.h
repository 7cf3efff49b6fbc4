#pragma once
#include <martello/base/checked.h>
#include <martello/graph/kernel.h>
#include <martello/ops/internal/sequence_blocks.h>
#include <martello/ops/internal/sequence_lengths.h>

namespace martello::internal {

// Which inputs of a node they are, and how its units are cut.
struct SequenceLayout {
  size_t weights;  // [units, gates * units]
  int lengths;
  int64_t gates, block_units;
};

// The kernel of a recurrence whose first input is [steps, rows, ...], f32 or f64: work.operator()<T>(sizes, run,
// lengths), with room for the packed weights.
template <class T, class Work>
Kernel sequence_kernel_of(const KernelPlan& plan, const SequenceLayout& layout, const Work& work) {
  const Shape& x = plan.in[0].shape;
  const SequenceBlocks sizes{x[0],        x[1], plan.in[layout.weights].shape[0], layout.gates, layout.block_units,
                             plan.threads};
  const SequenceLengths lengths(plan, layout.lengths, sizes.steps);
  Kernel kernel([=](const KernelRun& run) {
    lengths.check(run);
    work.template operator()<T>(sizes, run, lengths);
  });
  return kernel.scratch(checked_mul(sizes.packed_elements(), sizeof(T)));
}

template <class Work>
Kernel sequence_kernel(const KernelPlan& plan, const SequenceLayout& layout, const Work& work) {
  return plan.in[0].dtype == f32 ? sequence_kernel_of<float>(plan, layout, work)
                                 : sequence_kernel_of<double>(plan, layout, work);
}

}  // namespace martello::internal
