#pragma once
#include <martello/ops/internal/channel_pass.h>
#include <martello/ops/internal/scratch.h>

namespace martello::internal {

// The arrays of numbers that passes over channels work with, in scratch.
template <class T>
struct ChannelNumbers {
  double *partials, *first, *second;  // first, second: what moments and gradient_sums give
  T *mean, *scale, *beta;
  T *a = nullptr, *b = nullptr, *c = nullptr;

  template <class X>
  ChannelNumbers(Scratch& scratch, const ChannelPass<T, X>& pass, bool has_slope) {
    const int64_t numbers = checked_mul(pass.segments(), pass.channels()),
                  width = checked_mul(pass.segments(), pass.width());
    partials = scratch.take<double>(pass.partials());
    first = scratch.take<double>(numbers);
    second = scratch.take<double>(numbers);
    for (T** array : {&mean, &scale, &beta}) *array = scratch.take<T>(width);
    if (!has_slope) return;
    for (T** array : {&a, &b, &c}) *array = scratch.take<T>(width);
  }
  template <class X>
  static int64_t bytes(const ChannelPass<T, X>& pass, bool has_slope) {
    Scratch counter;
    ChannelNumbers(counter, pass, has_slope);
    return counter.bytes();
  }

  cpu::ChannelAffine<T> affine(bool relu) const { return {mean, scale, beta, relu}; }
  cpu::ChannelSlope<T> slope() const { return {a, b, c}; }
  template <class X>
  void repeat_affine(const ChannelPass<T, X>& pass) const {
    for (T* array : {mean, scale, beta}) pass.repeat(array);
  }
  template <class X>
  void repeat_slope(const ChannelPass<T, X>& pass) const {
    for (T* array : {a, b, c}) pass.repeat(array);
  }
};

}  // namespace martello::internal
