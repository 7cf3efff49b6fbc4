#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/dims.h>

#include <functional>
#include <vector>

// What the ops of recurrent cells and sequences share.
namespace martello::internal {

// Dimension 0 of a single sample's gates counts gates, not rows.
inline Rows gate_rows(const ShapeContext& c, size_t) { return same_if(c.in[0].shape.rank() > 1); }

// n * size, unknown when size is.
int64_t times(int64_t n, int64_t size);

// Throws unless input `gates` [..., n units] goes with input `state` [..., units].
void check_gates(const ShapeContext& c, size_t gates, size_t state, int64_t n);

// Sizes of a recurrence over time, as far as they are known: gates [steps, rows, n units], w [units, n units].
struct SequenceDims {
  int64_t steps, rows, units;
  Shape of_sequence(int64_t n) const;  // [steps, rows, n units]
  Shape of_state() const;              // [rows, units]
};
// Throws unless inputs `gates` and `w`, states [rows, units] (all of `states`) and, when there are so many inputs, the
// lengths [rows] at `lengths` agree. w has `n_of_w` columns per unit where that is not n.
SequenceDims check_sequence(const ShapeContext& c, int64_t n, size_t gates, size_t w, const std::vector<size_t>& states,
                            size_t lengths, int64_t n_of_w = 0);
// Throws unless the inputs before `lengths` have one floating dtype.
void check_floating_before(const ShapeContext& c, size_t lengths);
// A product of h and w per step, and the cells.
Cost sequence_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&);

// Gradients of a fused op: those of what `make` builds from the inputs out of ops that have them.
TensorList gradient_of_primitives(const GradContext& c, const std::function<TensorList(const TensorList& in)>& make);

// The steps of x, for a chain of them; throws when they are unknown or too many.
int64_t known_steps(Tensor x, const char* op);
// Whether step t is one of each row's [rows, 1]; null without lengths.
Tensor step_counts(const TensorList& in, size_t lengths, int64_t t);
// x where the step counts (everywhere when `counts` is null), else the other.
Tensor where_counts(Tensor counts, Tensor x, Tensor otherwise);

// x [rows, steps, n] (or so already) as [steps, rows, n].
Tensor time_major(const Operand& x, bool is_time_major, const char* op, const Name& name);
// Zeros [rows, units] for x [steps, rows, n] and w [units, ...].
Tensor zero_state(Tensor x, Tensor w);

// [steps, rows, n] as [steps rows, n].
Tensor as_rows(Tensor x);
// first, then all of x but its last step: what a recurrence saw before each step.
Tensor shifted(Tensor first, Tensor x);

}  // namespace martello::internal
