#pragma once
#include <martello/base/error.h>
#include <martello/ops/internal/broadcast_loop.h>
#include <martello/ops/internal/plain_loops.h>

#include <type_traits>

// The loops behind PlainLoops, for the sources that list formulas.
namespace martello::internal {

// A bool that came from outside may be any byte, which C++ must not read as bool.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
template <class T>
T loaded(Stored<T> v) {
  if constexpr (std::is_same_v<T, bool>) return v != 0;
  else return v;
}

template <class T>
const Stored<T>* input_of(const KernelRun& run, int i) {
  return static_cast<const Stored<T>*>(run.in_[i].data);
}
template <class T>
Stored<T>* output_of(const KernelRun& run) {
  return static_cast<Stored<T>*>(run.out_[0].data);
}

template <class F, class T>
Kernel unary_loop(const KernelPlan& plan) {
  using Y = decltype(F::of(T{}));
  return [loop = BroadcastLoop(plan)](const KernelRun& run) {
    const auto* x = input_of<T>(run, 0);
    auto* y = output_of<Y>(run);
    loop.run(run, [=](int64_t first, const auto&, int64_t count) {
      for (int64_t i = first; i < first + count; ++i) y[i] = static_cast<Stored<Y>>(F::of(loaded<T>(x[i])));
    });
  };
}

template <class F, class T, int kStepA, int kStepB, class Y>
void binary_run(const Stored<T>* a, const Stored<T>* b, Stored<Y>* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    y[i] = static_cast<Stored<Y>>(F::of(loaded<T>(a[i * kStepA]), loaded<T>(b[i * kStepB])));
}

// Divisors are looked at before the loop, which must not throw.
template <class T>
void check_divisors(const std::string& where, const KernelRun& run) {
  const T* b = input_of<T>(run, 1);
  const int64_t zero = std::find(b, b + run.in_[1].count, T{0}) - b;
  MARTELLO_CHECK(zero == run.in_[1].count, where, "b is 0 at element ", zero,
                 ": integers have no quotient by zero. Use where() to replace it.");
}

template <class F, class T>
Kernel binary_loop(const KernelPlan& plan) {
  using Y = decltype(F::of(T{}, T{}));
  using Run = void (*)(const Stored<T>*, const Stored<T>*, Stored<Y>*, int64_t);
  const BroadcastLoop loop(plan);
  const Run runs[2][2] = {{binary_run<F, T, 0, 0, Y>, binary_run<F, T, 0, 1, Y>},
                          {binary_run<F, T, 1, 0, Y>, binary_run<F, T, 1, 1, Y>}};
  const Run body = runs[loop.step(0)][loop.step(1)];
  const std::string where = plan.op.where();
  return [loop, body, where](const KernelRun& run) {
    const auto *a = input_of<T>(run, 0), *b = input_of<T>(run, 1);
    auto* y = output_of<Y>(run);
    if constexpr (requires { F::kDivides; })
      if (run.out_[0].count > 0) check_divisors<T>(where, run);
    loop.run(run, [=](int64_t first, const BroadcastLoop::Offsets& in, int64_t count) {
      body(a + in[0], b + in[1], y + first, count);
    });
  };
}

template <class F>
constexpr PlainLoops unary_loops() {
  return {.i32 = unary_loop<F, int32_t>, .i64 = unary_loop<F, int64_t>, .u8 = unary_loop<F, uint8_t>};
}
template <class F>
constexpr PlainLoops integer_loops() {
  return {.i32 = binary_loop<F, int32_t>, .i64 = binary_loop<F, int64_t>, .u8 = binary_loop<F, uint8_t>};
}
template <class F>
constexpr PlainLoops integer_and_bool_loops() {
  PlainLoops loops = integer_loops<F>();
  loops.boolean = binary_loop<F, bool>;
  return loops;
}

}  // namespace martello::internal
