#include <martello/graph/scopes.h>
#include <martello/ops/add_n.h>
#include <martello/ops/binary.h>
#include <martello/ops/norms.h>
#include <martello/ops/unary.h>

#include <optional>

namespace martello {
namespace {

Tensor sum_of_squares(const TensorList& xs, const char* what, Name name) {
  TensorList sums;
  for (const Tensor& x : xs)
    if (!x.is_null()) sums.push_back(reduce_sum(square(x)));
  MARTELLO_CHECK(!sums.empty(), "[", what, " '", name.text(), "'] the list has no tensor.\n  at ", name.line().str());
  return sums.size() == 1 ? sums[0] : add_n(sums);
}

// clip / max(norm, clip) = 1 / max(norm / clip, 1), by a root that is never taken at 0, where it has no derivative, and
// without the square of the clip, which may be out of range. `sum`: of the squares of all x / clip.
Tensor clip_factor(Tensor sum) { return divide(1.0, sqrt(maximum(sum, 1.0))); }

void check_clip(Operand clip, const char* what, Name name) {
  MARTELLO_CHECK(!clip.is_number() || clip.number() > 0, "[", what, " '", name.text(), "'] clip is ", clip.number(),
                 "; a norm to clip to is greater than 0.\n  at ", name.line().str());
}

}  // namespace

Tensor l2_loss(Operand x, Name name) {
  LineScope line(x.line());
  std::optional<NameScope> scope(name.text());
  const Tensor sum = reduce_sum(square(x));
  scope.reset();
  return multiply(sum, 0.5, name);
}

Tensor norm(Operand x, ReduceAttrs attrs, Name name) {
  LineScope line(x.line());
  std::optional<NameScope> scope(name.text());
  const Tensor sum = reduce_sum(square(x), std::move(attrs));
  scope.reset();
  return sqrt(sum, name);
}
Tensor norm(Operand x, Name name) { return norm(x, {}, name); }

Moments moments(Operand x, ReduceAttrs attrs, Name name) {
  LineScope line(x.line());
  NameScope scope(name.text());
  const Tensor mean = reduce_mean(x, attrs, "mean");
  const Tensor broadcast_mean = x.is_number() ? mean : internal::with_kept_dims(mean, x.tensor(), attrs);
  return {mean, reduce_mean(squared_difference(x, broadcast_mean), attrs, "variance")};
}

Tensor global_norm(const TensorList& xs, Name name) {
  LineScope line(name.line());
  std::optional<NameScope> scope(name.text());
  const Tensor sum = sum_of_squares(xs, "global_norm", name);
  scope.reset();
  return sqrt(sum, name);
}

Tensor clip_by_norm(Operand x, Operand clip, Axes axes, Name name) {
  LineScope line(x.line());
  check_clip(clip, "clip_by_norm", name);
  std::optional<NameScope> scope(name.text());
  const Tensor sum = reduce_sum(square(divide(x, clip)), {.axes = std::move(axes), .keep_dims = true});
  const Tensor factor = clip_factor(sum);
  scope.reset();
  return multiply(x, factor, name);
}

TensorList clip_by_global_norm(const TensorList& xs, Operand clip, Name name) {
  LineScope line(name.line());
  check_clip(clip, "clip_by_global_norm", name);
  NameScope scope(name.text());
  TensorList parts, clipped;
  for (const Tensor& x : xs) parts.push_back(x.is_null() ? x : divide(x, clip));
  const Tensor factor = clip_factor(sum_of_squares(parts, "clip_by_global_norm", name));
  for (const Tensor& x : xs) clipped.push_back(x.is_null() ? x : multiply(x, factor));
  return clipped;
}

}  // namespace martello
