#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/layer_norm_loops.h>
#include <martello/ops/internal/row_sums_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

double inverse_root(double variance, double epsilon) { return 1 / __builtin_sqrt(variance + epsilon); }

template <bool streaming, class T>
void normalize_row(const T* x, const T* gamma, const T* beta, T* y, int64_t n, T mean, T factor) {
  const Vec<T> m(mean), r(factor);
  for_vectors<T>(n, [&](int64_t i, int64_t lanes) {
    const Vec<T> z = (load(x + i, lanes) - m) * r * load(gamma + i, lanes) + load(beta + i, lanes);
    if (streaming && lanes == Vec<T>::kLanes) stream(y + i, z);
    else store(y + i, lanes, z);
  });
}

template <class T>
void normalize(const T* x, const T* gamma, const T* beta, T* y, T* mean, T* variance, int64_t rows, int64_t n,
               double epsilon, bool streaming) {
  streaming = streaming && is_vector_aligned(y) && n % Vec<T>::kLanes == 0;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    double m, squares;
    row_moments(x, n, &m, &squares);
    mean[r] = static_cast<T>(m);
    variance[r] = static_cast<T>(squares / static_cast<double>(n));
    const T factor = static_cast<T>(inverse_root(static_cast<double>(variance[r]), epsilon));
    (streaming ? normalize_row<true, T> : normalize_row<false, T>)(x, gamma, beta, y, n, mean[r], factor);
  }
  if (streaming) _mm_sfence();
}

// Sums of gamma dy and of gamma dy (x - mean) along a row.
template <class T>
void row_sums(const T* x, const T* gamma, const T* dy, int64_t n, T mean, double* sum, double* product) {
  const Wide<T> m(mean);
  *sum = *product = 0;
  for (int64_t first = 0; first < n; first += kRowTile) {
    RowSums<T, 2> sums;
    sums.run(n - first < kRowTile ? n - first : kRowTile, [&](int64_t i, Wide<T>* s, int64_t lanes) {
      const Wide<T> g = wide(gamma + first + i, lanes, T{0}) * wide(dy + first + i, lanes, T{0});
      s[0] = s[0] + g;
      s[1] = s[1] + g * (wide(x + first + i, lanes, T{0}) - m);
    });
    *sum += static_cast<double>(sums.total(0));
    *product += static_cast<double>(sums.total(1));
  }
}

// dx = a gamma dy + b (x - mean) + c; dgamma += a dy (x - mean); dbeta += dy
template <class T>
void gradient_row(const T* x, const T* gamma, const T* dy, T* dx, T* dgamma, T* dbeta, int64_t n, T mean, T a, T b,
                  T c) {
  const Vec<T> va(a), vb(b), vc(c), m(mean);
  for_vectors<T>(n, [&](int64_t i, int64_t lanes) {
    const Vec<T> d = load(x + i, lanes) - m, g = load(dy + i, lanes);
    store(dgamma + i, lanes, load(dgamma + i, lanes) + va * g * d);
    store(dbeta + i, lanes, load(dbeta + i, lanes) + g);
    store(dx + i, lanes, va * g * load(gamma + i, lanes) + vb * d + vc);
  });
}

template <class T>
void gradient(const T* x, const T* gamma, const T* mean, const T* variance, const T* dy, T* dx, T* dgamma, T* dbeta,
              int64_t rows, int64_t n, double epsilon) {
  for (int64_t i = 0; i < n; ++i) dgamma[i] = dbeta[i] = 0;
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    double sum, product;
    row_sums(x, gamma, dy, n, mean[r], &sum, &product);
    const double a = inverse_root(static_cast<double>(variance[r]), epsilon), share = a / static_cast<double>(n);
    gradient_row(x, gamma, dy, dx, dgamma, dbeta, n, mean[r], static_cast<T>(a),
                 static_cast<T>(-a * a * share * product), static_cast<T>(-share * sum));
  }
}

}  // namespace

constexpr LayerNormLoops<float> layer_norm_loops_f32 = {normalize<float>, gradient<float>};
constexpr LayerNormLoops<double> layer_norm_loops_f64 = {normalize<double>, gradient<double>};

}  // namespace martello::cpu::MARTELLO_ISA
