#include <martello/kernel/cpu/reduce_isa.h>
#include <martello/kernel/cpu/reduce_rows_isa.h>
#include <martello/kernel/cpu/reduce_wide_isa.h>
#include <martello/kernel/cpu/span_isa.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

// x of a step: in memory, or computed by a program into a tile.
template <class T>
class Source {
 public:
  explicit Source(const ReduceStep& step) : step_(step) {}
  // `n` elements from `begin` on, at most kMost of them. The tile is used again by the next call.
  const T* get(int64_t begin, int64_t n) {
    if (step_.x) return static_cast<const T*>(step_.x) + begin;
    return compute(begin, n, 0);
  }
  // The same into the tile from `at` on.
  const T* compute(int64_t begin, int64_t n, int64_t at) {
    void* outputs[] = {tile_ + at};
    const SpanRun run{step_.span->plan, step_.span->inputs, outputs, begin, false};
    run_range<T>(run, begin, begin + n);
    return tile_;
  }
  // What `compute` of the same elements will read.
  void ask_for_inputs(int64_t begin, int64_t n) const {
    const SpanPlan& plan = *step_.span->plan;
    for (int k = 0; k < plan.input_count && plan.outer_rank == 0; ++k) {
      if (plan.inputs[k].kind != InputKind::dense) continue;
      const int64_t bytes = plan.inputs[k].element_bytes;
      const char* from = static_cast<const char*>(step_.span->inputs[k]) + begin * bytes;
      for (int64_t i = 0; i < n * bytes; i += 64) ask_for(from + i);
    }
  }
  static constexpr int64_t kMost = kReduceTileBytes / static_cast<int64_t>(sizeof(T));
  // What the first cache holds beside that which it is computed from.
  static constexpr int64_t kAtOnce = 8192 / static_cast<int64_t>(sizeof(T));

 private:
  const ReduceStep& step_;
  alignas(64) T tile_[kMost];
};

// Whole rows of inner == 1. Those of which many fit into the tile are computed together.
template <class T, class Op>
void reduce_whole_rows(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  constexpr int64_t w = Vec<T>::kLanes;
  T* y = static_cast<T*>(step.y);
  const int64_t n = step.reduced;
  if (n * w > Source<T>::kMost) {
    return reduce_rows_by<T, Op>(last - first, y + first,
                                 [&](int64_t r) { return long_row_vector<T, Op>(source.get((first + r) * n, n), n); });
  }
  const int64_t most = step.x ? last - first : n * w > Source<T>::kAtOnce ? w : Source<T>::kAtOnce / n / w * w;
  for (int64_t rows; first < last; first += rows) {
    rows = smaller(last - first, most);
    reduce_rows<T, Op>(source.get(first * n, rows * n), rows, n, y + first, step.may_stream);
  }
}

// Blocks of rows of inner == 1, which are rows of their own.
template <class T, class Op>
void reduce_row_blocks(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  const int64_t block = kBlockRows * step.merged;
  reduce_rows_by<T, Op>(last - first, static_cast<T*>(step.y) + first, [&](int64_t i) {
    const int64_t row = (first + i) / step.blocks, k = (first + i) % step.blocks;
    const int64_t n = k + 1 < step.blocks ? block : step.reduced - k * block;
    return long_row_vector<T, Op>(source.get(row * step.reduced + k * block, n), n);
  });
}

// inner smaller than the lanes: a block is contiguous and short.
template <class T, class Op>
void reduce_narrow_items(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  const int64_t block = kBlockRows * step.merged;
  for (; first < last; ++first) {
    const int64_t outer = first / step.blocks, k = first % step.blocks, begin = k * block;
    const int64_t rows = k + 1 < step.blocks ? block : step.reduced - begin;
    const T* x = source.get((outer * step.reduced + begin) * step.inner, rows * step.inner);
    reduce_narrow<T, Op>(x, rows, step.inner, step.merged, static_cast<T*>(step.y) + first * step.inner);
  }
}

// Items of wide rows, one after the other: where they lie. Counted on, as divisions would cost as much as short items.
class WideItems {
 public:
  WideItems(const ReduceStep& step, int64_t item)
      : step_(step),
        stretches_((step.inner + step.columns - 1) / step.columns),
        by_stretch_(step.blocks > 1 && stretches_ >= kManyStretches),
        counts_{by_stretch_ ? step.blocks : stretches_, by_stretch_ ? stretches_ : step.blocks},
        at_{item % counts_[0], item / counts_[0] % counts_[1]},
        outer_(item / counts_[0] / counts_[1]) {}
  void next() {
    if (++at_[0] < counts_[0]) return;
    at_[0] = 0;
    if (++at_[1] < counts_[1]) return;
    at_[1] = 0;
    ++outer_;
  }
  int64_t x() const {
    return (outer_ * step_.reduced + block() * kBlockRows) * step_.inner + stretch() * step_.columns;
  }
  int64_t y() const { return (outer_ * step_.blocks + block()) * step_.inner + stretch() * step_.columns; }
  int64_t rows() const { return block() + 1 < step_.blocks ? kBlockRows : step_.reduced - block() * kBlockRows; }
  int64_t columns() const { return smaller(step_.columns, step_.inner - stretch() * step_.columns); }

 private:
  // With so many that each thread has its own, all blocks of a stretch follow each other: the thread that made their
  // rows finds them in its caches when the next step adds them.
  static constexpr int64_t kManyStretches = 32;

  int64_t stretch() const { return at_[by_stretch_ ? 1 : 0]; }
  int64_t block() const { return at_[by_stretch_ ? 0 : 1]; }

  const ReduceStep& step_;
  int64_t stretches_;
  bool by_stretch_;
  int64_t counts_[2], at_[2], outer_;  // the first counts fastest
};

// x in memory.
template <class T, class Op>
void reduce_stored_items(const ReduceStep& step, int64_t first, int64_t last) {
  const T* x = static_cast<const T*>(step.x);
  WideItems at(step, first);
  for (int64_t item = first; item < last; ++item) {
    T* y = static_cast<T*>(step.y) + at.y();
    RowStretch<T> s{x + at.x(), at.rows(), at.columns(), step.inner, nullptr, true, false};
    s.streaming = step.may_stream && s.rows <= kFewRows;
    at.next();
    // Few rows that go on in the next stretch are streams that prefetchers follow.
    const bool goes_on = s.rows <= kFewRows && step.columns < step.inner;
    if (!goes_on && item + 1 < step.items) s.next = x + at.x();
    add_all_rows<T, Op>(s, y);
  }
}

// Several rows meet y at once, a piece of each at a time, so that all of it stays in the first cache.
template <class T, class Op>
void add_computed_rows(const WideItems& at, int64_t row, int64_t rows, int64_t stride, Source<T>& source, T* y) {
  constexpr int64_t kPiece = 4096 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0, n; i < at.columns(); i += n) {
    n = smaller(kPiece, at.columns() - i);
    const T* x = nullptr;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t from = at.x() + (row + r) * stride + i;
      if (i + n < at.columns()) source.ask_for_inputs(from + n, n);
      else if (row + rows + r < at.rows()) source.ask_for_inputs(from - i + rows * stride, kPiece);
      x = source.compute(from, n, r * n);
    }
    add_all_rows<T, Op>({x, rows, n, n, nullptr, row == 0, false}, y + i);
  }
}

template <class T, class Op>
void reduce_computed_items(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  constexpr int64_t kRowsAtOnce = 4;
  WideItems at(step, first);
  for (int64_t item = first; item < last; ++item, at.next()) {
    T* y = static_cast<T*>(step.y) + at.y();
    const int64_t columns = at.columns(), fit = columns == step.inner ? Source<T>::kAtOnce / columns : 0;
    for (int64_t row = 0, n; row < at.rows(); row += n) {
      n = smaller(fit > 1 ? fit : kRowsAtOnce, at.rows() - row);
      if (fit <= 1) add_computed_rows<T, Op>(at, row, n, step.inner, source, y);
      else
        add_all_rows<T, Op>(
            {source.get(at.x() + row * columns, n * columns), n, columns, columns, nullptr, row == 0, false}, y);
    }
  }
}

template <class T, class Op>
void reduce_items(const ReduceStep& step, int64_t first, int64_t last) {
  Source<T> source(step);
  if (step.inner == 1) {
    (step.blocks == 1 ? reduce_whole_rows<T, Op> : reduce_row_blocks<T, Op>)(step, first, last, source);
  } else if (step.inner < kLanes<T>) {
    reduce_narrow_items<T, Op>(step, first, last, source);
  } else if (step.x) {
    reduce_stored_items<T, Op>(step, first, last);
  } else {
    reduce_computed_items<T, Op>(step, first, last, source);
  }
}

// y of the items of a chunk lies together, unless items are stretches of columns.
template <class T>
void divide(const ReduceStep& step, int64_t first, int64_t last) {
  T* y = static_cast<T*>(step.y);
  int64_t begin = first * step.inner, end = last * step.inner;
  if (step.columns < step.inner) {
    const WideItems from(step, first), to(step, last);
    begin = from.y();
    end = to.y();
  }
  const T divisor = static_cast<T>(step.divisor);
  for (int64_t i = begin; i < end; ++i) y[i] /= divisor;
}

}  // namespace

template <class T>
void reduce_chunk(const ReduceStep& step, int64_t chunk) {
  const int64_t first = chunk * step.items_per_chunk, last = smaller(first + step.items_per_chunk, step.items);
  switch (step.kind) {
    case ReduceKind::sum: reduce_items<T, Sum<T>>(step, first, last); break;
    case ReduceKind::prod: reduce_items<T, Prod<T>>(step, first, last); break;
    case ReduceKind::max: reduce_items<T, Max<T>>(step, first, last); break;
    case ReduceKind::min: reduce_items<T, Min<T>>(step, first, last); break;
  }
  if (step.divisor != 1) divide<T>(step, first, last);
  if (step.may_stream) _mm_sfence();
}

template void reduce_chunk<float>(const ReduceStep&, int64_t);
template void reduce_chunk<double>(const ReduceStep&, int64_t);

}  // namespace martello::cpu::MARTELLO_ISA
