#pragma once
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/update_layout.h>
#include <martello/ops/internal/update_loops.h>

#include <cmath>

// The numbers of one run that all elements of an update share.
namespace martello::internal {

inline const cpu::UpdateLoops& update_loops() {
  return cpu::of_host_isa(cpu::v2::update_loops, cpu::v3::update_loops, cpu::v4::update_loops);
}

template <class T>
auto update_loop(UpdateRule rule) {
  if constexpr (std::is_same_v<T, float>) return update_loops().f32[static_cast<int>(rule)];
  else return update_loops().f64[static_cast<int>(rule)];
}

inline double read_scalar(const KernelRun& run, int input, DType dtype) {
  return dtype == f32 ? static_cast<double>(run.in<float>(input)[0]) : run.in<double>(input)[0];
}

inline bool is_closed(const KernelRun& run, const UpdateLayout& layout) {
  return layout.gate >= 0 && !run.in<bool>(layout.gate)[0];
}

// `t` counts from 1. sqrt(1 - beta2^t) / (1 - beta1^t) corrects the bias of adam's two means.
template <class T>
cpu::UpdateConstants<T> make_constants(const OptimizerUpdateAttrs& a, double learning_rate, int64_t t) {
  double rate = learning_rate, epsilon = a.epsilon;
  if (traits_of(a.rule).counts_steps) {
    const double steps = static_cast<double>(t), second = std::sqrt(1 - std::pow(a.beta2, steps));
    rate = (a.rule == UpdateRule::lamb ? 1 : learning_rate) * second / (1 - std::pow(a.beta1, steps));
    if (a.has_corrected_epsilon || a.rule == UpdateRule::lamb) epsilon *= second;
  }
  cpu::UpdateConstants<T> k;
  k.rate = static_cast<T>(rate);
  k.momentum = static_cast<T>(a.momentum);
  k.beta1 = static_cast<T>(a.beta1);
  k.rest1 = static_cast<T>(1 - a.beta1);
  k.beta2 = static_cast<T>(a.beta2);
  k.rest2 = static_cast<T>(1 - a.beta2);
  k.epsilon = static_cast<T>(epsilon);
  return k;
}

// Advances the step variable, when the rule has one.
inline int64_t next_step(const KernelRun& run, const UpdateLayout& layout) {
  return layout.step >= 0 ? ++run.target<int64_t>(layout.step)[0] : 0;
}

}  // namespace martello::internal
