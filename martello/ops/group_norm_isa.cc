#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/channel_loops.h>
#include <martello/ops/internal/row_sums_isa.h>

// Rows of one channel: numbers are the same along a row.
namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
void moments(const T* x, int64_t n, double* mean, double* squares) {
  row_moments(x, n, mean, squares);
}

// Calls f(first element, lanes, whether to stream) for each vector; what lies before the first aligned vector of y, and
// after the last whole one, is stored as usual.
template <class T, class F>
inline void for_row(const T* y, int64_t n, bool streaming, F f) {
  constexpr int64_t w = Vec<T>::kLanes;
  if (!streaming) return for_vectors<T>(n, [&](int64_t i, int64_t lanes) { f(i, lanes, false); });
  const int64_t ahead = (kVecBytes - static_cast<int64_t>(reinterpret_cast<uintptr_t>(y) % kVecBytes)) % kVecBytes;
  int64_t i = ahead / static_cast<int64_t>(sizeof(T));
  if (i > n) i = n;
  if (i > 0) f(0, i, false);
  for (; i + w <= n; i += w) f(i, w, true);
  if (i < n) f(i, n - i, false);
  _mm_sfence();
}
template <class T>
inline void put(T* to, int64_t lanes, Vec<T> y, bool streaming) {
  if (streaming) stream(to, y);
  else store(to, lanes, y);
}

template <class T>
void normalize(const T* x, const T* addend, T* y, int64_t n, const ChannelAffine<T>& p, bool streaming) {
  const Vec<T> mean(*p.mean), scale(*p.scale), beta(*p.beta);
  for_row(y, n, streaming, [&](int64_t i, int64_t lanes, bool s) {
    Vec<T> z = affine(load(x + i, lanes), mean, scale, beta);
    if (addend) z = z + load(addend + i, lanes);
    put(y + i, lanes, p.relu ? relu_of(z) : z, s);
  });
}

template <bool relu, class T>
inline void row_gradient_sums(const T* x, const T* dy, int64_t n, const ChannelAffine<T>& p, T* sum, T* product) {
  const Wide<T> mean(*p.mean);
  const Vec<T> scale(*p.scale), beta(*p.beta);
  RowSums<T, 2> sums;
  sums.run(n, [&](int64_t i, Wide<T>* s, int64_t lanes) {
    const Wide<T> d = wide(x + i, lanes, T{0}) - mean;
    Wide<T> g = wide(dy + i, lanes, T{0});
    if (relu) g = map([&](Vec<T> v, Vec<T> dv) { return relu_slope(dv * scale + beta, v); }, g, d);
    s[0] = s[0] + g;
    s[1] = s[1] + g * d;
  });
  *sum = sums.total(0);
  *product = sums.total(1);
}
template <class T>
void gradient_sums(const T* x, const T* dy, int64_t n, const ChannelAffine<T>& p, double* sum, double* product) {
  *sum = *product = 0;
  for (int64_t first = 0; first < n; first += kRowTile) {
    T s, q;
    (p.relu ? row_gradient_sums<true, T> : row_gradient_sums<false, T>)(x + first, dy + first,
                                                                        n - first < kRowTile ? n - first : kRowTile, p,
                                                                        &s, &q);
    *sum += static_cast<double>(s);
    *product += static_cast<double>(q);
  }
}

template <class T>
void gradient(const T* x, const T* dy, T* dx, int64_t n, const ChannelAffine<T>& p, const ChannelSlope<T>& q,
              bool streaming) {
  const Vec<T> mean(*p.mean), scale(*p.scale), beta(*p.beta), a(*q.a), b(*q.b), c(*q.c);
  for_row(dx, n, streaming, [&](int64_t i, int64_t lanes, bool s) {
    const Vec<T> d = load(x + i, lanes) - mean, g = load(dy + i, lanes);
    put(dx + i, lanes, a * (p.relu ? relu_slope(d * scale + beta, g) : g) + b * d + c, s);
  });
}

}  // namespace

#define MARTELLO_ALL_LOOPS(T) \
  { moments<T>, normalize<T>, gradient_sums<T>, gradient<T> }
constexpr RowLoops<float> row_loops_f32 = MARTELLO_ALL_LOOPS(float);
constexpr RowLoops<double> row_loops_f64 = MARTELLO_ALL_LOOPS(double);
#undef MARTELLO_ALL_LOOPS

}  // namespace martello::cpu::MARTELLO_ISA
