#pragma once
#include <martello/graph/kernel.h>
#include <martello/ops/internal/random_loops.h>

namespace martello::internal {

// Numbers of output 0, without what a run adds.
struct RandomPlan {
  cpu::RandomTask task = {};
  int64_t rows = 1, blocks = 0;
};
// With a counter for every `per_block` elements of a row.
RandomPlan make_random_plan(const KernelPlan& plan, int64_t key, int64_t per_block);
// Of a run whose input 0 is the counter.
cpu::RandomTask make_random_task(const KernelRun& run, const RandomPlan& plan);

}  // namespace martello::internal
