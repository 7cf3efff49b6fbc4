#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of layer_norm_isa.cc. Included by ISA sources too, hence C headers only.
namespace martello::cpu {

// Rows of n side by side, each with its own moments.
template <class T>
struct LayerNormLoops {
  void (*normalize)(const T* x, const T* gamma, const T* beta, T* y, T* mean, T* variance, int64_t rows, int64_t n,
                    double epsilon, bool streaming);
  // dgamma and dbeta are those of these rows alone. `streaming`: dx past the caches.
  void (*gradient)(const T* x, const T* gamma, const T* mean, const T* variance, const T* dy, T* dx, T* dgamma,
                   T* dbeta, int64_t rows, int64_t n, double epsilon, bool streaming);
};

MARTELLO_PER_ISA(extern const LayerNormLoops<float> layer_norm_loops_f32;
                 extern const LayerNormLoops<double> layer_norm_loops_f64;)

// Those of this machine.
template <class T>
const LayerNormLoops<T>& layer_norm_loops();

}  // namespace martello::cpu
