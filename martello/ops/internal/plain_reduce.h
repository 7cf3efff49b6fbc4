#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/internal/reduce_view.h>

#include <memory>

namespace martello::internal {

// A reduction by plain loops, for types whose result does not depend on the order: integers and bools. Rule has
//   using In, Acc;  static Acc none();  static Acc step(Acc, In);  static Acc merge(Acc, Acc);
// and may have loops() for the machine's instruction set, a cpu::PlainReduceLoops.
template <class Rule>
concept HasLoops = requires {
  Rule::loops();
};

template <class Rule>
class PlainReduce {
 public:
  using In = typename Rule::In;
  using Acc = typename Rule::Acc;

  PlainReduce(ReduceView view, int64_t planned_rows)
      : view_(std::move(view)),
        planned_rows_(planned_rows),
        is_split_(view_.kept_count(planned_rows) <= (view_.adjacent_outputs() > 1 ? kColumns : kFewRows)) {}

  bool is_row_kept() const { return view_.is_row_kept(); }
  // Partial results of few, long reductions.
  int64_t scratch_bytes() const {
    const int64_t kept = view_.kept_count(planned_rows_), reduced = view_.reduced_count(planned_rows_);
    return is_split_ ? checked_mul(kept * slices(kept, reduced), static_cast<int64_t>(sizeof(Acc))) : 0;
  }

  void run(const KernelRun& run) const {
    const int64_t rows = run.in_rows(0), kept = view_.kept_count(rows), reduced = view_.reduced_count(rows);
    const In* x = static_cast<const In*>(run.in_[0].data);
    Acc* y = static_cast<Acc*>(run.out_[0].data);
    if (is_split_) return run_split(run, x, y, kept, reduced);
    const int64_t block = view_.adjacent_outputs() > 1 ? kColumns : 16;
    const int64_t chunk = std::max(block, kElements / std::max<int64_t>(reduced, 1) / block * block);
    parallel_for(run.threads, ceil_div(kept, chunk), [&](int64_t c) {
      const int64_t first = c * chunk;
      reduce_outputs(x, y + first, first, std::min(kept, first + chunk), {0, reduced});
    });
  }

 private:
  struct Range {
    int64_t begin, end;
  };
  static constexpr int64_t kColumns = 1024, kElements = 32768, kFewRows = 16, kNarrow = 64, kMerged = 256;
  static int64_t slice_elements(int64_t kept) { return std::max(kNarrow, kElements / std::max<int64_t>(kept, 1)); }
  static int64_t slices(int64_t kept, int64_t reduced) { return ceil_div(reduced, slice_elements(kept)); }

  // y[0 ..) = outputs [o, end), each of the reduced elements in `range`.
  void reduce_outputs(const In* x, Acc* y, int64_t o, int64_t end, Range range) const {
    const int64_t adjacent = view_.adjacent_outputs();
    for (int64_t n; o < end; o += n, y += n) {
      n = std::min({kColumns, end - o, adjacent - o % adjacent});
      Acc acc[kColumns];
      std::fill(acc, acc + n, Rule::none());
      const In* base = x + view_.kept_offset(o);
      view_.for_each_run(range.begin, range.end, [&](int64_t at, int64_t stride, int64_t count) {
        if (n < kNarrow && stride == n && count * n >= 4 * kMerged) add_narrow_rows(base + at, count, n, acc);
        else if (n == 1) acc[0] = fold(acc[0], base + at, stride, count);
        else add_rows(base + at, count, stride, n, acc);
      });
      std::copy(acc, acc + n, y);
    }
  }

  static Acc fold(Acc acc, const In* x, int64_t stride, int64_t count) {
    if constexpr (HasLoops<Rule>) {
      if (stride == 1) return Rule::loops().fold(acc, x, count);
    }
    if (stride == 1) {
      for (int64_t r = 0; r < count; ++r) acc = Rule::step(acc, x[r]);
    } else {
      for (int64_t r = 0; r < count; ++r) acc = Rule::step(acc, x[r * stride]);
    }
    return acc;
  }

  // Four at a time, so that acc is touched seldom. The next four are asked for, as prefetchers stop at a row's end.
  static void add_rows(const In* x, int64_t rows, int64_t stride, int64_t n, Acc* acc) {
    if constexpr (HasLoops<Rule>) return Rule::loops().add_rows(x, rows, stride, n, acc);
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(In));
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      for (int64_t first = 0; first < n; first += kNarrow) {
        const int64_t count = std::min(kNarrow, n - first);
        const In* from = x + r * stride + first;
        for (int64_t i = 0; i < 4; ++i)
          for (int64_t j = 0; j < count; j += kLine) __builtin_prefetch(from + (4 + i) * stride + j, 0, 2);
        add_four(from, stride, count, acc + first);
      }
    }
    for (; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) acc[j] = Rule::step(acc[j], x[r * stride + j]);
  }
  static void add_four(const In* a, int64_t stride, int64_t n, Acc* __restrict acc) {
    const In *b = a + stride, *c = b + stride, *d = c + stride;
    for (int64_t j = 0; j < n; ++j)
      acc[j] = Rule::step(Rule::step(Rule::step(Rule::step(acc[j], a[j]), b[j]), c[j]), d[j]);
  }

  // Rows that lie one behind the other, several of them taken as one that is wide enough for vectors.
  static void add_narrow_rows(const In* x, int64_t rows, int64_t n, Acc* acc) {
    const int64_t merged = kMerged / n, width = merged * n, whole = rows / merged;
    Acc wide[kMerged];
    std::fill(wide, wide + width, Rule::none());
    add_rows(x, whole, width, width, wide);
    int64_t left = merged;
    for (; left % 2 == 0; left /= 2)
      for (int64_t j = 0; j < left / 2 * n; ++j) wide[j] = Rule::merge(wide[j], wide[left / 2 * n + j]);
    for (int64_t r = 0; r < left; ++r)
      for (int64_t j = 0; j < n; ++j) acc[j] = Rule::merge(acc[j], wide[r * n + j]);
    add_rows(x + whole * width, rows - whole * merged, n, n, acc);
  }

  void run_split(const KernelRun& run, const In* x, Acc* y, int64_t kept, int64_t reduced) const {
    const int64_t n = slices(kept, reduced), slice = slice_elements(kept);
    Acc* partial = reinterpret_cast<Acc*>(run.scratch);
    parallel_for(run.threads, n, [&](int64_t s) {
      reduce_outputs(x, partial + s * kept, 0, kept, {s * slice, std::min(reduced, (s + 1) * slice)});
    });
    std::fill(y, y + kept, Rule::none());
    for (int64_t s = 0; s < n; ++s)
      for (int64_t o = 0; o < kept; ++o) y[o] = Rule::merge(y[o], partial[s * kept + o]);
  }

  ReduceView view_;
  int64_t planned_rows_;
  bool is_split_;
};

template <class Rule>
Kernel plain_reduce(const KernelPlan& plan, const std::vector<bool>& marked) {
  const Shape& shape = plan.in[0].shape;
  const PlainReduce<Rule> reduce(ReduceView(shape, marked), shape.rank() > 0 ? shape[0] : 1);
  Kernel kernel([reduce](const KernelRun& run) {
    reduce.run(run);
    if (reduce.is_row_kept()) run.set_out_rows(0, run.in_rows(0));
  });
  return kernel.scratch(reduce.scratch_bytes());
}

}  // namespace martello::internal
