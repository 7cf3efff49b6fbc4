#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// sqrt(sum of x^2 over all tensors), in one read of them. A NaN or an infinity among their elements makes the run a
// skipped one: nothing is written in it, variables and random counters stay as they are (Session::skipped_runs(),
// PreparedRun::was_skipped()). Tensors of one dtype, f32 or f64; sums are made in f64, in an order that does not depend
// on threads.
Tensor finite_norm(const TensorList& xs, Name name = "finite_norm");
extern const OpDef op_finite_norm;

}  // namespace martello
