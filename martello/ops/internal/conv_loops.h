#pragma once
#include <martello/ops/internal/conv_attrs.h>

// Convolution by plain loops: f64, sizes without work, and what the library has no kernel for. Every result is summed
// by one thread in one order.
namespace martello::internal {

// y = act(conv(x, kernel) + bias + addend); bias and addend, which lies as y does, may be null.
template <class T>
void convolve(int threads, const ConvProblem& p, const T* x, const T* kernel, const T* bias, const T* addend, bool relu,
              T* y);
template <class T>
void convolve_back(int threads, const ConvProblem& p, const T* dy, const T* kernel, T* dx);
template <class T>
void correlate(int threads, const ConvProblem& p, const T* x, const T* dy, T* dkernel);

}  // namespace martello::internal
