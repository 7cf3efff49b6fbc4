#include <martello/ops/internal/softmax_columns_isa.h>
#include <martello/ops/internal/softmax_loops.h>
#include <martello/ops/internal/softmax_short_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
T row_max(const T* x, int64_t n) {
  Wide<T> m(static_cast<T>(kMinusInf));
  for_blocks<T>(n, [&](int64_t i, int64_t lanes) { m = larger(load(x + i, lanes), m); });
  return fold_lanes<LargerLanes>(m);
}

// sum(exp(x - shift)), each term stored in y unless that is null.
template <class Exp, class T>
T row_exp_sum(const T* x, T* y, T shift, int64_t n) {
  const Wide<T> m(shift);
  Wide<T> sum(T{0});
  for_blocks<T>(n, [&](int64_t i, int64_t lanes) {
    const Wide<T> e = map([](Vec<T> v) { return Exp::of(v); }, load(x + i, lanes) - m);
    if (y) store(e, y + i, lanes);
    sum = sum + e;
  });
  return fold_lanes<AddLanes>(sum);
}

template <class T>
void log_in_place(T* sums, int64_t rows) {
  for_blocks<T>(rows, [&](int64_t i, int64_t lanes) { store(log(load(sums + i, lanes)), sums + i, lanes); });
}

template <class T>
void scale_row(const T* x, T factor, T* y, int64_t n) {
  const Wide<T> f(factor);
  for_blocks<T>(n, [&](int64_t i, int64_t lanes) { store(load(x + i, lanes) * f, y + i, lanes); });
}
template <class T>
void scale_rows(const T* x, const T* factors, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) scale_row(x + r * n, factors[r], y + r * n, n);
}

// Step by step over a few rows that stay in the cache: within a step, rows do not wait for each other.
template <class T>
void softmax_group(const T* x, T* y, T* max, T* sum, int64_t rows, int64_t n) {
  T factor[kSoftmaxRows];
  for (int64_t r = 0; r < rows; ++r) max[r] = row_max(x + r * n, n);
  for (int64_t r = 0; r < rows; ++r) sum[r] = row_exp_sum<ShiftedExp>(x + r * n, y + r * n, max[r], n);
  const auto inverse = [](Vec<T> s) { return Vec<T>(1) / s; };
  for_blocks<T>(rows, [&](int64_t i, int64_t lanes) { store(map(inverse, load(sum + i, lanes)), factor + i, lanes); });
  scale_rows(y, factor, y, rows, n);
}

int64_t group_rows(int64_t n) {
  const int64_t rows = 4096 / (n < 1 ? 1 : n);
  return rows < 1 ? 1 : rows < kSoftmaxRows ? rows : kSoftmaxRows;
}

template <class T>
void softmax_rows(const T* x, T* y, T* max, T* log_sum, int64_t rows, int64_t n) {
  T own_max[kSoftmaxRows], own_sum[kSoftmaxRows];
  T *const m = max ? max : own_max, *const s = log_sum ? log_sum : own_sum;
  const int64_t group = group_rows(n);
  if (is_short<T>(n)) run_short<SoftmaxShort, kShortBlocks>(x, y, m, s, rows, n);
  for (int64_t r = 0; r < rows && !is_short<T>(n); r += group)
    softmax_group(x + r * n, y + r * n, m + r, s + r, rows - r < group ? rows - r : group, n);
  if (log_sum) log_in_place(log_sum, rows);
}

template <class T>
void log_softmax_long_rows(const T* x, T* y, T* max, T* log_sum, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) max[r] = row_max(x + r * n, n);
  for (int64_t r = 0; r < rows; ++r)
    log_sum[r] = row_exp_sum<ShiftedExp>(x + r * n, static_cast<T*>(nullptr), max[r], n);
  log_in_place(log_sum, rows);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const Wide<T> m(max[r]), s(log_sum[r]);
    for_blocks<T>(n, [&](int64_t i, int64_t lanes) { store((load(x + i, lanes) - m) - s, y + i, lanes); });
  }
}

template <class T>
void log_softmax_rows(const T* x, T* y, int64_t rows, int64_t n) {
  T max[kSoftmaxRows], log_sum[kSoftmaxRows];
  if (is_short<T>(n)) {
    run_short<ExpSumShort, kShortBlocks>(x, y, max, log_sum, rows, n);
    log_in_place(log_sum, rows);
    return run_short<ShiftShort, kShortBlocks>(x, y, max, log_sum, rows, n);
  }
  const int64_t group = group_rows(n);
  for (int64_t r = 0; r < rows; r += group)
    log_softmax_long_rows(x + r * n, y + r * n, max, log_sum, rows - r < group ? rows - r : group, n);
}

// A shift that is infinite would turn a sum of zeros or of infinities into NaN.
template <class T>
T finite_or_zero(T x) {
  return x - x == 0 ? x : T{0};
}

template <class T>
void logsumexp_rows(const T* x, T* y, int64_t rows, int64_t n) {
  T shift[kSoftmaxRows];
  for (int64_t r = 0; r < rows; ++r) {
    shift[r] = finite_or_zero(row_max(x + r * n, n));
    y[r] = row_exp_sum<FullExp>(x + r * n, static_cast<T*>(nullptr), shift[r], n);
  }
  log_in_place(y, rows);
  for (int64_t r = 0; r < rows; ++r) y[r] += shift[r];
}

template <class T>
void softmax_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t columns) {
  for_column_groups(x, n, stride, columns, [&](const auto& group, int64_t j) {
    const auto m = group.largest(), sum = group.template exp_sum<ShiftedExp>(m, y + j);
    const auto factor = sum.of([](Vec<T> s) { return Vec<T>(1) / s; });
    for (int64_t i = j; i < j + n * stride; i += stride)
      for (int b = 0; b < group.kBlocks; ++b) group.put(group.get(y + i, b) * factor.block[b], y + i, b);
  });
}

template <class T>
void log_softmax_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t columns) {
  for_column_groups(x, n, stride, columns, [&](const auto& group, int64_t j) {
    const auto m = group.largest(), sum = group.template exp_sum<ShiftedExp>(m, nullptr);
    const auto log_sum = sum.of([](Vec<T> s) { return log(s); });
    for (int64_t i = j; i < j + n * stride; i += stride)
      for (int b = 0; b < group.kBlocks; ++b)
        group.put((group.get(x + i, b) - m.block[b]) - log_sum.block[b], y + i, b);
  });
}

template <class T>
void logsumexp_columns(const T* x, T* y, int64_t n, int64_t stride, int64_t columns) {
  for_column_groups(x, n, stride, columns, [&](const auto& group, int64_t j) {
    const auto finite = [](Vec<T> v) { return select(v - v == Vec<T>(0), v, Vec<T>(0)); };
    const auto shift = group.largest().of(finite), sum = group.template exp_sum<FullExp>(shift, nullptr);
    const auto log_sum = sum.of([](Vec<T> s) { return log(s); });
    for (int b = 0; b < group.kBlocks; ++b) group.put(log_sum.block[b] + shift.block[b], y + j, b);
  });
}

}  // namespace

#define MARTELLO_ALL_LOOPS(T)                                                                   \
  {                                                                                             \
    softmax_rows<T>, log_softmax_rows<T>, logsumexp_rows<T>, scale_rows<T>, softmax_columns<T>, \
        log_softmax_columns<T>, logsumexp_columns<T>                                            \
  }
constexpr SoftmaxLoops<float> softmax_loops_f32 = MARTELLO_ALL_LOOPS(float);
constexpr SoftmaxLoops<double> softmax_loops_f64 = MARTELLO_ALL_LOOPS(double);
#undef MARTELLO_ALL_LOOPS

}  // namespace martello::cpu::MARTELLO_ISA
