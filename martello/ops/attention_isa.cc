#include <martello/ops/internal/attention_loops.h>
#include <martello/ops/internal/softmax_exp_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

template <class T>
int64_t seen_keys(const AttentionScores<T>& a, int64_t r) {
  const int64_t seen = a.diagonal + r;
  return !a.is_causal || seen > a.keys ? a.keys : seen < 0 ? 0 : seen;
}

// 0 where kept, else -inf.
template <class T>
Wide<T> from_kept(const bool* kept, int64_t lanes) {
  T added[kWideLanes<T>] = {};
  for (int64_t i = 0; i < lanes; ++i) added[i] = kept[i] ? T{0} : static_cast<T>(kMinusInf);
  return Wide<T>::load(added);
}

// The exponent of key i and those after it.
template <class T>
Wide<T> exponent(const AttentionScores<T>& a, int64_t r, int64_t i, int64_t lanes) {
  Wide<T> x = load(a.s + r * a.row + i, lanes) * Wide<T>(a.scale);
  if (a.added) x = x + load(a.added + r * a.mask_row + i, lanes);
  if (a.kept) x = x + from_kept<T>(a.kept + r * a.mask_row + i, lanes);
  return x;
}

template <class T>
Wide<T> exp_below(Wide<T> x) {
  return map([](Vec<T> v) { return ShiftedExp::of(v); }, x);
}

template <class T>
void zero_unseen(T* row, int64_t seen, int64_t keys) {
  for (int64_t i = seen; i < keys; ++i) row[i] = 0;
}

template <class T>
void scale_row(T* y, T factor, int64_t n) {
  const Wide<T> f(factor);
  for_blocks<T>(n, [&](int64_t i, int64_t lanes) { store(load(y + i, lanes) * f, y + i, lanes); });
}

// The largest exponent, and all of them stored.
template <class T>
T store_exponents(const AttentionScores<T>& a, int64_t r, int64_t seen) {
  Wide<T> m(static_cast<T>(kMinusInf));
  for_blocks<T>(seen, [&](int64_t i, int64_t lanes) {
    const Wide<T> x = exponent(a, r, i, lanes);
    store(x, a.s + r * a.row + i, lanes);
    m = larger(x, m);
  });
  return fold_lanes<LargerLanes>(m);
}

template <class T>
T store_exponentials(T* row, T shift, int64_t seen) {
  const Wide<T> m(shift);
  Wide<T> sum(T{0});
  for_blocks<T>(seen, [&](int64_t i, int64_t lanes) {
    const Wide<T> e = exp_below(load(row + i, lanes) - m);
    store(e, row + i, lanes);
    sum = sum + e;
  });
  return fold_lanes<AddLanes>(sum);
}

template <class T>
void add_block(const AttentionScores<T>& a, T* max, T* sum, T* y, int64_t columns, bool is_first) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const int64_t seen = seen_keys(a, r);
    const T own = store_exponents(a, r, seen), before = is_first ? static_cast<T>(kMinusInf) : max[r];
    const T next = own > before ? own : before;
    const T shift = next == static_cast<T>(kMinusInf) ? T{0} : next;  // nothing seen: exp(-inf), or NaN, remains
    const T added = store_exponentials(a.s + r * a.row, shift, seen);
    zero_unseen(a.s + r * a.row, seen, a.keys);
    max[r] = next;
    if (is_first) {
      sum[r] = added;
      continue;
    }
    T factor[kWideLanes<T>];
    exp_below(Wide<T>(before - shift)).store(factor);
    sum[r] = sum[r] * factor[0] + added;
    if (before != next) scale_row(y + r * columns, factor[0], columns);
  }
}

template <class T>
void finish(const T* max, const T* sum, T* y, T* lse, int64_t rows, int64_t columns) {
  for_blocks<T>(rows, [&](int64_t i, int64_t lanes) { store(log(load(sum + i, lanes)), lse + i, lanes); });
  for (int64_t r = 0; r < rows; ++r) {
    const bool sees_nothing = sum[r] == 0;
    lse[r] = sees_nothing ? -static_cast<T>(kMinusInf) : lse[r] + max[r];
    scale_row(y + r * columns, sees_nothing ? T{0} : T{1} / sum[r], columns);
  }
}

template <class T>
void gradient(const AttentionScores<T>& a, const T* lse, const T* dot, T* dp) {
  const Wide<T> scale(a.scale);
  for (int64_t r = 0; r < a.rows; ++r) {
    const int64_t seen = seen_keys(a, r);
    const Wide<T> log_sum(lse[r]), d(dot[r]);
    T *p = a.s + r * a.row, *ds = dp + r * a.row;
    for_blocks<T>(seen, [&](int64_t i, int64_t lanes) {
      const Wide<T> e = exp_below(exponent(a, r, i, lanes) - log_sum);
      store(e, p + i, lanes);
      store(e * (load(ds + i, lanes) - d) * scale, ds + i, lanes);
    });
    zero_unseen(p, seen, a.keys);
    zero_unseen(ds, seen, a.keys);
  }
}

template <class T>
void dots(const T* a, const T* b, int64_t rows, int64_t columns, T* dot) {
  for (int64_t r = 0; r < rows; ++r) {
    Wide<T> sum(T{0});
    for_blocks<T>(columns, [&](int64_t i, int64_t lanes) {
      const auto part = [&](const T* x) {
        return lanes == kWideLanes<T> ? Wide<T>::load(x) : Wide<T>::load_first(x, lanes, T{0});
      };
      sum = sum + part(a + r * columns + i) * part(b + r * columns + i);
    });
    dot[r] = fold_lanes<AddLanes>(sum);
  }
}

}  // namespace

extern const AttentionLoops<float> attention_loops_f32 = {add_block<float>, finish<float>, gradient<float>,
                                                          dots<float>};
extern const AttentionLoops<double> attention_loops_f64 = {add_block<double>, finish<double>, gradient<double>,
                                                           dots<double>};

}  // namespace martello::cpu::MARTELLO_ISA
