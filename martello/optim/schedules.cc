#include <martello/optim/schedules.h>

#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

#include <numbers>

namespace martello {
namespace {

Tensor f64_scalar(const Operand& x, const char* schedule, const char* what) {
  if (x.is_number()) return constant(HostTensor(x.number()), what);
  const Tensor t = x.tensor();
  MARTELLO_CHECK(!t.is_null(), "[", schedule, "] the ", what, " is a null Tensor: it was never assigned.");
  MARTELLO_CHECK(t.rank() == 0 && t.dtype() != boolean, "[", schedule, "] the ", what, " '", t.name(),
                 "' needs to be a scalar number but is ", t.dtype(), t.shape(), ".");
  return t.dtype() == f64 ? t : cast(t, f64, what);
}

void check_positive(double value, const char* schedule, const char* what) {
  MARTELLO_CHECK(value > 0, "[", schedule, "] ", what, " is ", value, "; it must be greater than 0.");
}

// The nodes of a schedule, made in a scope of its name; `build` gives the f64 value.
template <class F>
Tensor schedule(Name name, const F& build) {
  return with_line(name.line(), [&] {
    Tensor value;
    {
      NameScope scope(name.text());
      value = build();
    }
    return cast(value, f32, name);
  });
}

}  // namespace

Tensor exponential_decay(Operand rate, Operand step, ExponentialDecay o, Name name) {
  return schedule(name, [&] {
    check_positive(o.decay_steps, "exponential_decay", "decay_steps");
    check_positive(o.decay_rate, "exponential_decay", "decay_rate");
    Tensor periods = f64_scalar(step, "exponential_decay", "step") / o.decay_steps;
    if (o.staircase) periods = floor(periods);
    return f64_scalar(rate, "exponential_decay", "rate") * pow(constant(HostTensor(o.decay_rate)), periods);
  });
}

Tensor piecewise_constant(Operand step, const std::vector<int64_t>& boundaries, const std::vector<double>& values,
                          Name name) {
  return schedule(name, [&] {
    MARTELLO_CHECK(values.size() == boundaries.size() + 1, "[piecewise_constant] has ", values.size(), " values for ",
                   boundaries.size(), " boundaries. Give one value more than boundaries.");
    for (size_t i = 1; i < boundaries.size(); ++i)
      MARTELLO_CHECK(boundaries[i - 1] < boundaries[i], "[piecewise_constant] boundary ", i, " is ", boundaries[i],
                     " after ", boundaries[i - 1], ". Boundaries ascend.");
    const Tensor at = f64_scalar(step, "piecewise_constant", "step");
    Tensor value = constant(HostTensor(values.back()));
    for (size_t i = boundaries.size(); i-- > 0;)
      value = where(at <= static_cast<double>(boundaries[i]), constant(HostTensor(values[i])), value);
    return value;
  });
}

Tensor polynomial_decay(Operand rate, Operand step, PolynomialDecay o, Name name) {
  return schedule(name, [&] {
    check_positive(o.decay_steps, "polynomial_decay", "decay_steps");
    check_positive(o.power, "polynomial_decay", "power");
    const Tensor at = f64_scalar(step, "polynomial_decay", "step");
    Tensor fraction = minimum(at / o.decay_steps, 1.0);
    if (o.cycle) fraction = at / (maximum(ceil(at / o.decay_steps), 1.0) * o.decay_steps);
    const Tensor left = pow(maximum(1.0 - fraction, 0.0), constant(HostTensor(o.power)));
    return (f64_scalar(rate, "polynomial_decay", "rate") - o.end) * left + o.end;
  });
}

Tensor cosine_decay(Operand rate, Operand step, CosineDecay o, Name name) {
  return schedule(name, [&] {
    check_positive(o.decay_steps, "cosine_decay", "decay_steps");
    const Tensor fraction = minimum(f64_scalar(step, "cosine_decay", "step") / o.decay_steps, 1.0);
    const Tensor wave = (cos(fraction * std::numbers::pi) + 1.0) * 0.5;
    return f64_scalar(rate, "cosine_decay", "rate") * (wave * (1 - o.alpha) + o.alpha);
  });
}

Tensor warm_up(Operand rate, Operand step, WarmUp o, Name name) {
  return schedule(name, [&] {
    check_positive(o.steps, "warm_up", "steps");
    const Tensor last = f64_scalar(rate, "warm_up", "rate"), at = f64_scalar(step, "warm_up", "step");
    return where(at < o.steps, at / o.steps * (last - o.initial) + o.initial, last);
  });
}

}  // namespace martello
