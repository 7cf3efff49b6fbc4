#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel.h>
#include <martello/ops/internal/reduce_view.h>

#include <memory>

namespace martello::internal {

// A reduction by plain loops, for types whose result does not depend on the order: integers and bools. Rule has
//   using In, Acc;  static Acc none();  static Acc step(Acc, In);  static Acc merge(Acc, Acc);
template <class Rule>
class PlainReduce {
 public:
  using In = typename Rule::In;
  using Acc = typename Rule::Acc;

  PlainReduce(ReduceView view, int64_t planned_rows)
      : view_(std::move(view)), planned_rows_(planned_rows), is_split_(view_.kept_count(planned_rows) <= kFewOutputs) {}

  bool is_row_kept() const { return view_.is_row_kept(); }
  // Partial results of few, long reductions.
  int64_t scratch_bytes() const {
    const int64_t kept = view_.kept_count(planned_rows_), reduced = view_.reduced_count(planned_rows_);
    return is_split_ ? checked_mul(kept * slices(reduced), static_cast<int64_t>(sizeof(Acc))) : 0;
  }

  void run(const KernelRun& run) const {
    const int64_t rows = run.in_rows(0), kept = view_.kept_count(rows), reduced = view_.reduced_count(rows);
    const In* x = static_cast<const In*>(run.in_[0].data);
    Acc* y = static_cast<Acc*>(run.out_[0].data);
    if (is_split_) return run_split(run, x, y, kept, reduced);
    const int64_t chunk = std::max(kBlock, kElements / std::max<int64_t>(reduced, 1) / kBlock * kBlock);
    parallel_for(run.threads, ceil_div(kept, chunk), [&](int64_t c) {
      const int64_t end = std::min(kept, (c + 1) * chunk);
      for (int64_t o = c * chunk; o < end;) o += reduce_block(x, y, o, end, reduced);
    });
  }

 private:
  static constexpr int64_t kBlock = 16, kElements = 32768, kFewOutputs = 8;
  static int64_t slices(int64_t reduced) { return ceil_div(reduced, kElements); }

  // Reduces outputs from o on that lie side by side in the input, at most kBlock; returns how many.
  int64_t reduce_block(const In* x, Acc* y, int64_t o, int64_t end, int64_t reduced) const {
    const int64_t adjacent = view_.adjacent_outputs();
    const int64_t n = std::min({kBlock, end - o, adjacent - o % adjacent});
    Acc acc[kBlock];
    for (Acc& a : acc) a = Rule::none();
    const In* base = x + view_.kept_offset(o);
    view_.for_each_run(0, reduced, [&](int64_t at, int64_t stride, int64_t count) {
      if (n == 1) {
        acc[0] = fold(acc[0], base + at, stride, count);
      } else {
        for (int64_t r = 0; r < count; ++r)
          for (int64_t j = 0; j < n; ++j) acc[j] = Rule::step(acc[j], base[at + r * stride + j]);
      }
    });
    std::copy(acc, acc + n, y + o);
    return n;
  }

  static Acc fold(Acc acc, const In* x, int64_t stride, int64_t count) {
    if (stride == 1) {
      for (int64_t r = 0; r < count; ++r) acc = Rule::step(acc, x[r]);
    } else {
      for (int64_t r = 0; r < count; ++r) acc = Rule::step(acc, x[r * stride]);
    }
    return acc;
  }

  void run_split(const KernelRun& run, const In* x, Acc* y, int64_t kept, int64_t reduced) const {
    const int64_t n = slices(reduced);
    Acc* partial = reinterpret_cast<Acc*>(run.scratch);
    parallel_for(run.threads, kept * n, [&](int64_t i) {
      const int64_t o = i / n, begin = i % n * kElements;
      Acc acc = Rule::none();
      view_.for_each_run(begin, std::min(reduced, begin + kElements), [&](int64_t at, int64_t stride, int64_t count) {
        acc = fold(acc, x + view_.kept_offset(o) + at, stride, count);
      });
      partial[i] = acc;
    });
    for (int64_t o = 0; o < kept; ++o) {
      y[o] = Rule::none();
      for (int64_t s = 0; s < n; ++s) y[o] = Rule::merge(y[o], partial[o * n + s]);
    }
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
