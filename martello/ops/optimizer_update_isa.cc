#include <martello/ops/internal/update_loops.h>

#include <type_traits>

// Plain loops: the compiler makes them as wide as the instruction set allows, and without contraction every width gives
// the same bits. A rule says what happens to one element; `sweep` does it to a span.
namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
using Constants = UpdateConstants<T>;

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }

struct GradientDescent {
  static constexpr int kSlots = 0;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T&, T&, T&) {
    w = w * k.keep - k.rate * g;
  }
};

struct Momentum {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& m, T&, T&) {
    m = k.momentum * m + g;
    w = w * k.keep - k.rate * m;
  }
};

struct Nesterov {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& m, T&, T&) {
    m = k.momentum * m + g;
    w = w * k.keep - k.rate * (g + k.momentum * m);
  }
};

struct Adam {
  static constexpr int kSlots = 2;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& m, T& v, T&) {
    m = k.beta1 * m + k.rest1 * g;
    v = k.beta2 * v + k.rest2 * (g * g);
    w = w * k.keep - k.rate * m / (root(v) + k.epsilon);
  }
};

struct RmsProp {
  static constexpr int kSlots = 2;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& v, T& m, T&) {
    v = k.beta2 * v + k.rest2 * (g * g);
    m = k.momentum * m + k.rate * g / root(v + k.epsilon);
    w = w * k.keep - m;
  }
};

// A variance that rounding made negative counts as none.
struct CenteredRmsProp {
  static constexpr int kSlots = 3;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& v, T& mean, T& m) {
    v = k.beta2 * v + k.rest2 * (g * g);
    mean = k.beta2 * mean + k.rest2 * g;
    const T variance = v - mean * mean;
    m = k.momentum * m + k.rate * g / root((variance < 0 ? T{0} : variance) + k.epsilon);
    w = w * k.keep - m;
  }
};

struct Adagrad {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& a, T&, T&) {
    a = a + g * g;
    w = w * k.keep - k.rate * g / (root(a) + k.epsilon);
  }
};

struct Adadelta {
  static constexpr int kSlots = 2;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& a, T& d, T&) {
    a = k.beta2 * a + k.rest2 * (g * g);
    const T u = root(d + k.epsilon) / root(a + k.epsilon) * g;
    d = k.beta2 * d + k.rest2 * (u * u);
    w = w * k.keep - k.rate * u;
  }
};

struct Lion {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T& m, T&, T&) {
    const T c = k.beta1 * m + k.rest1 * g;
    const T sign = c > 0 ? T{1} : c < 0 ? T{-1} : c;  // 0 and NaN stay
    w = w * k.keep - k.rate * sign;
    m = k.beta2 * m + k.rest2 * g;
  }
};

template <class T>
T lamb_direction(const Constants<T>& k, T w, T m, T v) {
  return k.rate * m / (root(v) + k.epsilon) + k.decay * w;
}

// The second pass: the slots have moved already.
struct Lamb {
  static constexpr int kSlots = 2;
  template <class T>
  static void step(const Constants<T>& k, T, T& w, T& m, T& v, T&) {
    w = w - k.trust_rate * lamb_direction(k, w, m, v);
  }
};

struct Accumulate {
  static constexpr int kSlots = 0;
  template <class T>
  static void step(const Constants<T>& k, T g, T& w, T&, T&, T&) {
    w = k.rate == 0 ? T{0} : k.rate * g;
  }
};

struct Average {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>& k, T, T& w, T& s, T&, T&) {
    w = w - k.rate * (w - s);
  }
};

struct Swap {
  static constexpr int kSlots = 1;
  template <class T>
  static void step(const Constants<T>&, T, T& w, T& s, T&, T&) {
    const T old = w;
    w = s;
    s = old;
  }
};

template <class Rule>
inline constexpr bool kTakesGradient =
    !std::is_same_v<Rule, Average> && !std::is_same_v<Rule, Swap> && !std::is_same_v<Rule, Lamb>;

template <class Rule, class T>
void sweep_row(const UpdateSpan<T>& span, const Constants<T>& k, int64_t row, int64_t count) {
  const int64_t at = row * span.row;
  const T* __restrict g = span.g + (kTakesGradient<Rule> ? row * span.g_row : 0);
  T* __restrict w = span.w + at;
  T* __restrict a = span.slots[0] + (Rule::kSlots > 0 ? at : 0);
  T* __restrict b = span.slots[1] + (Rule::kSlots > 1 ? at : 0);
  T* __restrict c = span.slots[2] + (Rule::kSlots > 2 ? at : 0);
  for (int64_t i = 0; i < count; ++i) {
    T none = 0;
    Rule::step(k, kTakesGradient<Rule> ? g[i] : T{0}, w[i], Rule::kSlots > 0 ? a[i] : none,
               Rule::kSlots > 1 ? b[i] : none, Rule::kSlots > 2 ? c[i] : none);
  }
}

template <class Rule, class T>
void sweep(const UpdateSpan<T>& span) {
  constexpr int64_t kPanel = 64;  // columns of a product's piece: the compiler unrolls what it knows
  const Constants<T> k = span.constants;
  if (span.count == kPanel)
    for (int64_t i = 0; i < span.rows; ++i) sweep_row<Rule>(span, k, i, kPanel);
  else
    for (int64_t i = 0; i < span.rows; ++i) sweep_row<Rule>(span, k, i, span.count);
}

// Sums side by side, one order on every level.
template <class T>
LambNorms lamb_moments(const UpdateSpan<T>& span) {
  constexpr int64_t kLanes = 256;
  const Constants<T> k = span.constants;
  double weights[kLanes] = {}, steps[kLanes] = {};
  for (int64_t begin = 0; begin < span.count; begin += kLanes) {
    const int64_t n = span.count - begin < kLanes ? span.count - begin : kLanes;
    const T* __restrict g = span.g + begin;
    const T* __restrict w = span.w + begin;
    T* __restrict m = span.slots[0] + begin;
    T* __restrict v = span.slots[1] + begin;
    for (int64_t j = 0; j < n; ++j) {
      const T next_m = k.beta1 * m[j] + k.rest1 * g[j], next_v = k.beta2 * v[j] + k.rest2 * (g[j] * g[j]);
      m[j] = next_m;
      v[j] = next_v;
      const double r = static_cast<double>(lamb_direction(k, w[j], next_m, next_v)), wide = static_cast<double>(w[j]);
      weights[j] += wide * wide;
      steps[j] += r * r;
    }
  }
  LambNorms sums;
  for (int64_t j = 0; j < kLanes; ++j) {
    sums.weight += weights[j];
    sums.step += steps[j];
  }
  return sums;
}

}  // namespace

#define MARTELLO_SWEEPS(T)                                                                                \
  {                                                                                                       \
    sweep<GradientDescent, T>, sweep<Momentum, T>, sweep<Nesterov, T>, sweep<Adam, T>, sweep<RmsProp, T>, \
        sweep<CenteredRmsProp, T>, sweep<Adagrad, T>, sweep<Adadelta, T>, sweep<Lion, T>, sweep<Lamb, T>, \
        sweep<Accumulate, T>, sweep<Average, T>, sweep<Swap, T>                                           \
  }

constinit const UpdateLoops update_loops = {MARTELLO_SWEEPS(float), MARTELLO_SWEEPS(double), lamb_moments<float>,
                                            lamb_moments<double>};

}  // namespace martello::cpu::MARTELLO_ISA
