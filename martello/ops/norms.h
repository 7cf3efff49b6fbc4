#pragma once
#include <martello/ops/reduce.h>

// Norms, moments and clipping, made of other ops.
namespace martello {

// sum(x^2) / 2.
Tensor l2_loss(Operand x, Name name = "l2_loss");
// sqrt(sum(x^2)) along axes. Its gradient at 0 is NaN.
Tensor norm(Operand x, ReduceAttrs attrs = {}, Name name = "norm");
Tensor norm(Operand x, Name name);

struct Moments {
  Tensor mean, variance;
};
// mean(x) and mean((x - mean)^2) along axes.
Moments moments(Operand x, ReduceAttrs attrs = {}, Name name = "moments");

// sqrt(sum of x^2 over all tensors). Null tensors in the list count as zeros.
Tensor global_norm(const TensorList& xs, Name name = "global_norm");
// x scaled down to norm `clip` (along axes) where its norm is larger.
Tensor clip_by_norm(Operand x, Operand clip, Axes axes = {}, Name name = "clip_by_norm");
// Each scaled by clip / max(global_norm(xs), clip). Null tensors stay null; a NaN anywhere makes all of them NaN.
TensorList clip_by_global_norm(const TensorList& xs, Operand clip, Name name = "clip_by_global_norm");

}  // namespace martello
