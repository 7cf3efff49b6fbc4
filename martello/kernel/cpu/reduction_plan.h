#pragma once
#include <martello/kernel/cpu/elementwise.h>
#include <martello/kernel/cpu/engine.h>

#include <vector>

namespace martello::cpu {

// A size that may have the run's rows as a factor.
struct Extent {
  int64_t factor = 1;
  bool has_rows = false;
  int64_t at(int64_t rows) const { return has_rows ? factor * rows : factor; }
};

// Reduces [outer, reduced, inner] to [outer, inner], in steps. See Note [Order of sums].
struct ReductionPass {
  Extent outer, reduced, inner;
};

struct ReductionPlan {
  Reduction::Kind kind = Reduction::Kind::sum;
  std::vector<ReductionPass> passes;  // innermost axes first
  Extent count;                       // of elements that one result is made of
  Shape result;
  int64_t intermediate_elements = 0;  // the largest one

  ReduceKind step_kind() const;
  double of_nothing() const;  // what a step makes of no elements
};

ReductionPlan make_reduction_plan(const Shape& shape, const Reduction& reduction, DType dtype);

// The next step over x [outer, reduced, inner], with everything but addresses and divisor.
ReduceStep make_step(ReduceKind kind, int64_t outer, int64_t reduced, int64_t inner, DType dtype);

}  // namespace martello::cpu
