#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/layer_norm_loops.h>
#include <martello/ops/internal/row_sums_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

double inverse_root(double variance, double epsilon) { return 1 / __builtin_sqrt(variance + epsilon); }

// R rows side by side, so that gamma and beta are read once for all of them.
template <bool streaming, int R, class T>
void normalize_rows(const T* x, const T* gamma, const T* beta, T* y, int64_t n, const T* mean, const T* factor) {
  for_vectors<T>(n, [&](int64_t i, int64_t lanes) {
    const Vec<T> scale = load(gamma + i, lanes), shift = load(beta + i, lanes);
    for (int r = 0; r < R; ++r) {
      const Vec<T> z = (load(x + r * n + i, lanes) - Vec<T>(mean[r])) * Vec<T>(factor[r]) * scale + shift;
      if (streaming && lanes == Vec<T>::kLanes) stream(y + r * n + i, z);
      else store(y + r * n + i, lanes, z);
    }
  });
}

// Moments of R rows that fit into the first cache together, step by step: each step of a row waits for the one before,
// not for those of other rows.
template <int R, class T>
void moments_of_rows(const T* x, int64_t n, T* mean, T* variance) {
  T m[R], squares[R];
  for (int r = 0; r < R; ++r) m[r] = tile_sum(x + r * n, n);
  for (int r = 0; r < R; ++r) m[r] /= static_cast<T>(n);
  for (int r = 0; r < R; ++r) squares[r] = tile_squares(x + r * n, n, m[r]);
  for (int r = 0; r < R; ++r) {
    mean[r] = m[r];
    variance[r] = static_cast<T>(static_cast<double>(squares[r]) / static_cast<double>(n));
  }
}
template <class T>
void moments_of_row(const T* x, int64_t n, T* mean, T* variance) {
  double m, squares;
  row_moments(x, n, &m, &squares);
  *mean = static_cast<T>(m);
  *variance = static_cast<T>(squares / static_cast<double>(n));
}

template <int R, class T>
void put_rows(const T* x, const T* gamma, const T* beta, T* y, int64_t n, const T* mean, const T* variance,
              double epsilon, bool streaming) {
  T factor[R];
  for (int r = 0; r < R; ++r) factor[r] = static_cast<T>(inverse_root(static_cast<double>(variance[r]), epsilon));
  (streaming ? normalize_rows<true, R, T> : normalize_rows<false, R, T>)(x, gamma, beta, y, n, mean, factor);
}

template <class T>
void normalize(const T* x, const T* gamma, const T* beta, T* y, T* mean, T* variance, int64_t rows, int64_t n,
               double epsilon, bool streaming) {
  constexpr int R = 8, kShortRow = 2048 / static_cast<int>(sizeof(T));
  streaming = streaming && is_vector_aligned(y) && n % Vec<T>::kLanes == 0;
  int64_t r = 0;
  for (; n > 0 && n <= kShortRow && r + R <= rows; r += R) {
    moments_of_rows<R>(x + r * n, n, mean + r, variance + r);
    put_rows<R>(x + r * n, gamma, beta, y + r * n, n, mean + r, variance + r, epsilon, streaming);
  }
  for (; r < rows; ++r) {
    moments_of_row(x + r * n, n, mean + r, variance + r);
    put_rows<1>(x + r * n, gamma, beta, y + r * n, n, mean + r, variance + r, epsilon, streaming);
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

// Of one row: dx = a gamma dy + b (x - mean) + c
template <class T>
struct RowSlope {
  T mean, a, b, c;
};

// dgamma += a dy (x - mean) and dbeta += dy of R rows, row after row; they are touched once for all of them. All that
// is read lies in the caches, so the next rows are asked for meanwhile.
template <bool streaming, int R, class T>
void gradient_rows(const T* x, const T* gamma, const T* dy, T* dx, T* dgamma, T* dbeta, int64_t n,
                   const RowSlope<T>* rows) {
  for_vectors<T>(n, [&](int64_t i, int64_t lanes) {
    const Vec<T> scale = load(gamma + i, lanes);
    Vec<T> sum = load(dbeta + i, lanes), product = load(dgamma + i, lanes);
    for (int r = 0; r < R; ++r) {
      const RowSlope<T>& row = rows[r];
      _mm_prefetch(reinterpret_cast<const char*>(x + (R + r) * n + i), _MM_HINT_T1);
      _mm_prefetch(reinterpret_cast<const char*>(dy + (R + r) * n + i), _MM_HINT_T1);
      const Vec<T> d = load(x + r * n + i, lanes) - Vec<T>(row.mean), g = load(dy + r * n + i, lanes);
      const Vec<T> scaled = Vec<T>(row.a) * g;
      sum = sum + g;
      product = product + scaled * d;
      const Vec<T> z = scaled * scale + Vec<T>(row.b) * d + Vec<T>(row.c);
      if (streaming && lanes == Vec<T>::kLanes) stream(dx + r * n + i, z);
      else store(dx + r * n + i, lanes, z);
    }
    store(dbeta + i, lanes, sum);
    store(dgamma + i, lanes, product);
  });
}

template <class T>
RowSlope<T> row_slope(const T* x, const T* gamma, const T* dy, int64_t n, T mean, T variance, double epsilon) {
  double sum, product;
  row_sums(x, gamma, dy, n, mean, &sum, &product);
  const double a = inverse_root(static_cast<double>(variance), epsilon), share = a / static_cast<double>(n);
  return {mean, static_cast<T>(a), static_cast<T>(-a * a * share * product), static_cast<T>(-share * sum)};
}

template <bool streaming, class T>
void gradient_by(const T* x, const T* gamma, const T* mean, const T* variance, const T* dy, T* dx, T* dgamma, T* dbeta,
                 int64_t rows, int64_t n, double epsilon) {
  // Rows side by side stay in the second cache.
  constexpr int R = 4, kShortRow = 32768 / static_cast<int>(sizeof(T));
  for (int64_t i = 0; i < n; ++i) dgamma[i] = dbeta[i] = 0;
  RowSlope<T> slopes[R];
  int64_t r = 0;
  for (; n <= kShortRow && r + R <= rows; r += R) {
    for (int64_t k = r; k < r + R; ++k)
      slopes[k - r] = row_slope(x + k * n, gamma, dy + k * n, n, mean[k], variance[k], epsilon);
    gradient_rows<streaming, R>(x + r * n, gamma, dy + r * n, dx + r * n, dgamma, dbeta, n, slopes);
  }
  for (; r < rows; ++r) {
    slopes[0] = row_slope(x + r * n, gamma, dy + r * n, n, mean[r], variance[r], epsilon);
    gradient_rows<streaming, 1>(x + r * n, gamma, dy + r * n, dx + r * n, dgamma, dbeta, n, slopes);
  }
}
template <class T>
void gradient(const T* x, const T* gamma, const T* mean, const T* variance, const T* dy, T* dx, T* dgamma, T* dbeta,
              int64_t rows, int64_t n, double epsilon, bool streaming) {
  streaming = streaming && is_vector_aligned(dx) && n % Vec<T>::kLanes == 0;
  (streaming ? gradient_by<true, T> : gradient_by<false, T>)(x, gamma, mean, variance, dy, dx, dgamma, dbeta, rows, n,
                                                             epsilon);
  if (streaming) _mm_sfence();
}

}  // namespace

constexpr LayerNormLoops<float> layer_norm_loops_f32 = {normalize<float>, gradient<float>};
constexpr LayerNormLoops<double> layer_norm_loops_f64 = {normalize<double>, gradient<double>};

}  // namespace martello::cpu::MARTELLO_ISA
