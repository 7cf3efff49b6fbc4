#pragma once
#include <martello/kernel/cpu/elementwise.h>
#include <martello/kernel/cpu/engine.h>

#include <vector>

namespace martello::cpu {

// How the elements of the output are cut into runs, and where each input's lie. See InputPlan.
struct ElementwiseLayout {
  std::vector<InputPlan> inputs;
  std::vector<std::vector<int32_t>> offsets;  // of each input
  std::vector<int64_t> outer_sizes;
  int64_t run = INT64_MAX, period = 1;
  bool tiled = false;
};

// Refuses inputs that do not broadcast to `out`.
ElementwiseLayout make_layout(const ElementwiseProgram& program, const Shape& out, std::span<const Shape> inputs);

}  // namespace martello::cpu
