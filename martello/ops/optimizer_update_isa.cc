#include <martello/ops/internal/update_loops.h>

// Plain loops: the compiler makes them as wide as the instruction set allows, and without contraction every width gives
// the same bits.
namespace martello::cpu::MARTELLO_ISA {
namespace {

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

template <class T>
void momentum(const MomentumSpan<T>& s) {
  T* __restrict w = s.w;
  T* __restrict m = s.m;
  const T* __restrict g = s.g;
  const T lr = s.learning_rate, mu = s.momentum;
  if (s.nesterov) {
    for (int64_t i = 0; i < s.count; ++i) {
      const T next = mu * m[i] + g[i];
      m[i] = next;
      w[i] -= lr * (g[i] + mu * next);
    }
  } else {
    for (int64_t i = 0; i < s.count; ++i) {
      const T next = mu * m[i] + g[i];
      m[i] = next;
      w[i] -= lr * next;
    }
  }
}

template <class T>
void adam(const AdamSpan<T>& s) {
  T* __restrict w = s.w;
  T* __restrict m = s.m;
  T* __restrict v = s.v;
  const T* __restrict g = s.g;
  const T rate = s.rate, b1 = s.beta1, b2 = s.beta2, epsilon = s.epsilon;
  const T c1 = T{1} - b1, c2 = T{1} - b2;
  for (int64_t i = 0; i < s.count; ++i) {
    const T next_m = b1 * m[i] + c1 * g[i];
    const T next_v = b2 * v[i] + c2 * (g[i] * g[i]);
    m[i] = next_m;
    v[i] = next_v;
    w[i] -= rate * next_m / (root(next_v) + epsilon);
  }
}

}  // namespace

constinit const UpdateLoops update_loops = {momentum<float>, momentum<double>, adam<float>, adam<double>};

}  // namespace martello::cpu::MARTELLO_ISA
