#include <martello/kernel/cpu/bf16_isa.h>
#include <martello/ops/internal/channel_isa.h>
#include <martello/ops/internal/channel_loops.h>

// Columns do not meet, so that the width of a vector changes no bit.
namespace martello::cpu::MARTELLO_ISA {
namespace {

// What it calls becomes part of it: a call per vector would cost as much as its arithmetic. Such functions take their
// numbers' addresses by value: behind a reference, each vector that is stored might have changed them.
#define MARTELLO_FLAT __attribute__((flatten))

// bf16, exactly as f32; lanes past the last are 0.
#if MARTELLO_VEC_BYTES == 64
inline Vec<float> load(const uint16_t* x, int64_t lanes) {
  const auto mask = static_cast<__mmask16>(lanes == Vec<float>::kLanes ? 0xffff : (1u << lanes) - 1);
  const __m512i wide = _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_maskz_loadu_epi16(mask, x));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, wide, 16));
}
#else
inline Vec<float> load(const uint16_t* x, int64_t lanes) {
  VecTypes<float>::Unsigned bits = {};
  for (int64_t i = 0; i < lanes; ++i) bits[i] = static_cast<uint32_t>(x[i]) << 16;
  return VecTypes<float>::Native(bits);
}
#endif

template <class T>
constexpr int64_t kShortRow = 2048 / static_cast<int64_t>(sizeof(T));

// Into the second cache: the first, and the few misses it can have under way, are for what is needed now.
inline void ask_for(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }

// Asks for a part of the next K rows while these are worked on: part i of them in the order in which they lie in
// memory, which comes faster than the order in which columns are walked. Long rows are streams of their own.
template <int K, class T, class X>
inline void ask_for_next(const X* x, int64_t stride, int64_t i) {
  if (stride > kShortRow<T>) return;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(X)), kLines = K * Vec<T>::kLanes / kLine;
  for (int64_t k = 0; k < kLines; ++k) ask_for(x + K * stride + i * K + k * kLine);
}

// K rows meet in registers before they touch what is kept in memory: mean and squared distances of the K, then those of
// all rows so far (`before` of them).
template <int K, class T, class X>
MARTELLO_FLAT void moments_of_rows(const X* x, int64_t stride, int64_t width, int64_t before, T* mean, T* squares) {
  const T all = static_cast<T>(before + K);
  const Vec<T> share(K / all), weight(static_cast<T>(before) * (K / all)), inverse(1.0 / K);
  for_vectors<T>(width, [&](int64_t i, int64_t lanes) {
    Vec<T> v[K], m, q(0);
    if (K > 1) ask_for_next<K, T>(x, stride, i);
    for (int k = 0; k < K; ++k) v[k] = load(x + k * stride + i, lanes);
    m = v[0];
    for (int k = 1; k < K; ++k) m = m + v[k];
    m = m * inverse;
    for (int k = 0; k < K; ++k) q = q + (v[k] - m) * (v[k] - m);
    if (before > 0) {
      const Vec<T> old = load(mean + i, lanes), d = m - old;
      m = old + d * share;
      q = load(squares + i, lanes) + (q + d * d * weight);
    }
    store(mean + i, lanes, m);
    store(squares + i, lanes, q);
  });
}

template <class T, class X>
void moments(const X* x, const ColumnBlock& b, T* mean, T* squares) {
  constexpr int K = 8;
  int64_t r = 0;
  for (; r + K <= b.rows; r += K) moments_of_rows<K>(x + r * b.stride, b.stride, b.width, r, mean, squares);
  for (; r < b.rows; ++r) moments_of_rows<1>(x + r * b.stride, b.stride, b.width, r, mean, squares);
  if (b.rows == 0)
    for (int64_t i = b.tail; i < b.width; ++i) mean[i] = squares[i] = 0;
  moments_of_rows<1>(x + b.rows * b.stride, b.stride, b.tail, b.rows, mean, squares);
}

// Calls f(offset in the block, elements) for each row.
template <class F>
inline void for_rows(const ColumnBlock& b, F f) {
  for (int64_t r = 0; r < b.rows; ++r) f(r * b.stride, b.width);
  if (b.tail > 0) f(b.rows * b.stride, b.tail);
}
template <class T>
bool can_stream(const T* y, const ColumnBlock& b) {
  return is_vector_aligned(y) && b.stride % Vec<T>::kLanes == 0;
}
bool can_stream(const uint16_t* y, const ColumnBlock& b) {
  return can_stream_bf16(y) && b.stride % Vec<float>::kLanes == 0;
}
template <bool streaming, class T>
inline void put(T* to, int64_t lanes, Vec<T> y) {
  if (streaming && lanes == Vec<T>::kLanes) stream(to, y);
  else store(to, lanes, y);
}
template <bool streaming>
inline void put(uint16_t* to, int64_t lanes, Vec<float> y) {
  if (lanes < Vec<float>::kLanes) store_bf16(to, lanes, to_bf16(y));
  else if (streaming) stream_bf16(to, to_bf16(y));
  else store_bf16(to, to_bf16(y));
}

template <bool adds, bool relu, bool streaming, class T, class X, class Y>
MARTELLO_FLAT void normalize_block(const X* x, const T* addend, Y* y, ColumnBlock b, ChannelAffine<T> p) {
  for_rows(b, [&](int64_t at, int64_t width) {
    for_vectors<T>(width, [&](int64_t i, int64_t n) {
      Vec<T> z = affine(load(x + at + i, n), load(p.mean + i, n), load(p.scale + i, n), load(p.beta + i, n));
      if (adds) z = z + load(addend + at + i, n);
      put<streaming>(y + at + i, n, relu ? relu_of(z) : z);
    });
  });
  if (streaming) _mm_sfence();
}
template <class T, class X, class Y>
void normalize(const X* x, const T* addend, Y* y, const ColumnBlock& b, const ChannelAffine<T>& p, bool streaming) {
  using Loop = void (*)(const X*, const T*, Y*, ColumnBlock, ChannelAffine<T>);
  static constexpr Loop kLoops[2][2][2] = {
      // by addend, relu, streaming
      {{normalize_block<false, false, false, T, X, Y>, normalize_block<false, false, true, T, X, Y>},
       {normalize_block<false, true, false, T, X, Y>, normalize_block<false, true, true, T, X, Y>}},
      {{normalize_block<true, false, false, T, X, Y>, normalize_block<true, false, true, T, X, Y>},
       {normalize_block<true, true, false, T, X, Y>, normalize_block<true, true, true, T, X, Y>}}};
  kLoops[addend != nullptr][p.relu][streaming && can_stream(y, b)](x, addend, y, b, p);
}

// dy as it comes through relu. x is replaced by its distance from the mean.
template <bool relu, class T>
inline Vec<T> incoming(const T* dy, Vec<T>& x, const ChannelAffine<T>& p, int64_t i, int64_t n) {
  const Vec<T> g = load(dy, n), distance = x - load(p.mean + i, n);
  x = distance;
  return relu ? relu_slope(distance * load(p.scale + i, n) + load(p.beta + i, n), g) : g;
}

template <class T>
constexpr int64_t kAhead = 2048 / static_cast<int64_t>(sizeof(T));
template <int K, bool relu, class T, class X>
MARTELLO_FLAT void sums_of_rows(const X* x, const T* dy, int64_t stride, int64_t width, ChannelAffine<T> p, T* sum,
                                T* product) {
  for_vectors<T>(width, [&](int64_t i, int64_t n) {
    Vec<T> s(0), q(0);
    if (K == 1) {
      ask_for(x + i + kAhead<X>);
      ask_for(dy + i + kAhead<T>);
    }
    for (int k = 0; k < K; ++k) {
      Vec<T> d = load(x + k * stride + i, n);
      const Vec<T> g = incoming<relu>(dy + k * stride + i, d, p, i, n);
      s = s + g;
      q = q + g * d;
    }
    store(sum + i, n, load(sum + i, n) + s);
    store(product + i, n, load(product + i, n) + q);
  });
}
// Short rows go one by one: two arrays read in the order in which they lie arrive twice as fast.
template <bool relu, class T, class X>
void sums_of_block(const X* x, const T* dy, const ColumnBlock& b, const ChannelAffine<T>& p, T* sum, T* product) {
  constexpr int K = 4;
  for (int64_t i = 0; i < b.width; ++i) sum[i] = product[i] = 0;
  int64_t at = 0, r = 0;
  for (; b.stride > kShortRow<T> && r + K <= b.rows; r += K, at += K * b.stride)
    sums_of_rows<K, relu>(x + at, dy + at, b.stride, b.width, p, sum, product);
  for (; r < b.rows; ++r, at += b.stride) sums_of_rows<1, relu>(x + at, dy + at, b.stride, b.width, p, sum, product);
  sums_of_rows<1, relu>(x + at, dy + at, b.stride, b.tail, p, sum, product);
}
template <class T, class X>
void gradient_sums(const X* x, const T* dy, const ColumnBlock& b, const ChannelAffine<T>& p, T* sum, T* product) {
  (p.relu ? sums_of_block<true, T, X> : sums_of_block<false, T, X>)(x, dy, b, p, sum, product);
}

template <bool relu, bool streaming, class T, class X, class Y>
MARTELLO_FLAT void gradient_block(const X* x, const T* dy, Y* dx, ColumnBlock b, ChannelAffine<T> p,
                                  ChannelSlope<T> q) {
  for_rows(b, [&](int64_t at, int64_t width) {
    for_vectors<T>(width, [&](int64_t i, int64_t n) {
      Vec<T> d = load(x + at + i, n);
      const Vec<T> g = incoming<relu>(dy + at + i, d, p, i, n);
      put<streaming>(dx + at + i, n, load(q.a + i, n) * g + load(q.b + i, n) * d + load(q.c + i, n));
    });
  });
  if (streaming) _mm_sfence();
}
template <class T, class X, class Y>
void gradient(const X* x, const T* dy, Y* dx, const ColumnBlock& b, const ChannelAffine<T>& p, const ChannelSlope<T>& q,
              bool streaming) {
  streaming = streaming && can_stream(dx, b);
  if (p.relu)
    (streaming ? gradient_block<true, true, T, X, Y> : gradient_block<true, false, T, X, Y>)(x, dy, dx, b, p, q);
  else (streaming ? gradient_block<false, true, T, X, Y> : gradient_block<false, false, T, X, Y>)(x, dy, dx, b, p, q);
}

template <class T>
void merge_moments(const T* mean, const T* squares, double count, double before, double* into_mean,
                   double* into_squares, int64_t n) {
  const double share = count / (before + count), weight = before * share;
  for (int64_t i = 0; before == 0 && i < n; ++i) {
    into_mean[i] = static_cast<double>(mean[i]);
    into_squares[i] = static_cast<double>(squares[i]);
  }
  for (int64_t i = 0; before > 0 && i < n; ++i) {
    const double d = static_cast<double>(mean[i]) - into_mean[i];
    into_mean[i] += d * share;
    into_squares[i] += static_cast<double>(squares[i]) + d * d * weight;
  }
}
template <class T>
void add(const T* x, double* into, int64_t n) {
  for (int64_t i = 0; i < n; ++i) into[i] += static_cast<double>(x[i]);
}

}  // namespace

#define MARTELLO_ALL_LOOPS(T, X, normalize_bf16, gradient_bf16)                                               \
  {                                                                                                           \
    moments<T, X>, normalize<T, X, T>, gradient_sums<T, X>, gradient<T, X, T>, normalize_bf16, gradient_bf16, \
        merge_moments<T>, add<T>                                                                              \
  }
constexpr ColumnLoops<float> column_loops_f32 =
    MARTELLO_ALL_LOOPS(float, float, (normalize<float, float, uint16_t>), (gradient<float, float, uint16_t>));
constexpr ColumnLoops<double> column_loops_f64 = MARTELLO_ALL_LOOPS(double, double, nullptr, nullptr);
constexpr ColumnLoops<float, uint16_t> column_loops_bf16 =
    MARTELLO_ALL_LOOPS(float, uint16_t, (normalize<float, uint16_t, uint16_t>), (gradient<float, uint16_t, uint16_t>));
#undef MARTELLO_ALL_LOOPS

}  // namespace martello::cpu::MARTELLO_ISA
