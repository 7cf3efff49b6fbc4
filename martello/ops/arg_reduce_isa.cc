#include <martello/ops/internal/arg_loops.h>
#include <martello/ops/internal/best_lanes_isa.h>
#include <martello/ops/internal/channel_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
typename Vec<T>::Bits lane_numbers() {
  typename Vec<T>::Bits lanes{};
  for (int i = 0; i < Vec<T>::kLanes; ++i) lanes[i] = i;
  return lanes;
}

template <class T, class Rank>
int64_t best_lane(const BestLanes<T, Rank>& best) {
  int lane = 0;
  for (int k = 1; k < Vec<T>::kLanes; ++k) {
    const bool is_equal =
        !Rank::beats(best.value.v[k], best.value.v[lane]) && !Rank::beats(best.value.v[lane], best.value.v[k]);
    if (Rank::beats(best.value.v[k], best.value.v[lane]) || (is_equal && best.at[k] < best.at[lane])) lane = k;
  }
  return best.at[lane];
}

// Four vectors of candidates: a chain of compares waits for each other, four of them do not.
template <class T, class Rank>
int64_t long_row(const T* x, int64_t n) {
  constexpr int64_t w = Vec<T>::kLanes;
  BestLanes<T, Rank> best[4];
  for (int k = 0; k < 4; ++k) best[k] = {Vec<T>::load(x + k * w), lane_numbers<T>() + same_bits<T>(k * w)};
  int64_t i = 4 * w;
  for (; i + 4 * w <= n; i += 4 * w)
    for (int k = 0; k < 4; ++k) best[k].meet(Vec<T>::load(x + i + k * w), lane_numbers<T>() + same_bits<T>(i + k * w));
  best[0].meet(best[1]);
  best[2].meet(best[3]);
  best[0].meet(best[2]);
  int64_t at = best_lane(best[0]);
  for (; i < n; ++i) at = Rank::beats(x[i], x[at]) ? i : at;
  return at;
}

// Several rows side by side, for the same reason.
template <int R, class T, class Rank>
void short_rows(const T* x, int64_t n, int64_t* index) {
  T best[R];
  int64_t at[R];
  for (int r = 0; r < R; ++r) best[r] = x[r * n], at[r] = 0;
  for (int64_t i = 1; i < n; ++i)
    for (int r = 0; r < R; ++r) {
      const T v = x[r * n + i];
      const bool is_better = Rank::beats(v, best[r]);
      best[r] = is_better ? v : best[r];
      at[r] = is_better ? i : at[r];
    }
  for (int r = 0; r < R; ++r) index[r] = at[r];
}

template <class T, class Rank>
void rows_of(const T* x, int64_t rows, int64_t n, int64_t* index) {
  int64_t r = 0;
  const bool is_short = n < 8 * Vec<T>::kLanes;
  for (; is_short && r + 8 <= rows; r += 8) short_rows<8, T, Rank>(x + r * n, n, index + r);
  for (; r < rows; ++r) {
    if (is_short) short_rows<1, T, Rank>(x + r * n, n, index + r);
    else index[r] = long_row<T, Rank>(x + r * n, n);
  }
}

// Rows [i, i + R) meet the best of those before.
template <int R, class T, class Rank>
void meet_rows(const T* x, int64_t i, int64_t stride, int64_t columns, BestLanes<T, Rank>* best) {
  for_vectors<T>(columns, [&](int64_t j, int64_t lanes) {
    BestLanes<T, Rank>& b = best[j / Vec<T>::kLanes];
    BestLanes<T, Rank> next = b;
    for (int r = 0; r < R; ++r) {
      const T* from = x + (i + r) * stride + j;
      _mm_prefetch(reinterpret_cast<const char*>(from + R * stride), _MM_HINT_T1);
      next.meet(load(from, lanes), same_bits<T>(i + r));
    }
    b = next;
  });
}

template <class T, class Rank>
void columns_of(const T* x, int64_t n, int64_t stride, int64_t columns, int64_t* index) {
  BestLanes<T, Rank> best[kArgColumns / Vec<T>::kLanes];
  for_vectors<T>(columns, [&](int64_t j, int64_t lanes) {
    best[j / Vec<T>::kLanes] = {load(x + j, lanes), same_bits<T>(0)};
  });
  int64_t i = 1;
  for (; i + 4 <= n; i += 4) meet_rows<4>(x, i, stride, columns, best);
  for (; i < n; ++i) meet_rows<1>(x, i, stride, columns, best);
  for (int64_t j = 0; j < columns; ++j) index[j] = best[j / Vec<T>::kLanes].at[j % Vec<T>::kLanes];
}

}  // namespace

extern const ArgLoops<float> largest_loops_f32 = {rows_of<float, Largest<float>>, columns_of<float, Largest<float>>};
extern const ArgLoops<double> largest_loops_f64 = {rows_of<double, Largest<double>>,
                                                   columns_of<double, Largest<double>>};
extern const ArgLoops<float> smallest_loops_f32 = {rows_of<float, Smallest<float>>, columns_of<float, Smallest<float>>};
extern const ArgLoops<double> smallest_loops_f64 = {rows_of<double, Smallest<double>>,
                                                    columns_of<double, Smallest<double>>};

}  // namespace martello::cpu::MARTELLO_ISA
