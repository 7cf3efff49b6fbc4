#include <martello/kernel/cpu/reduce_columns_isa.h>
#include <martello/kernel/cpu/reduce_isa.h>
#include <martello/kernel/cpu/reduce_rows_isa.h>
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
    void* outputs[] = {tile_};
    const SpanRun run{step_.span->plan, step_.span->inputs, outputs, begin, false};
    run_range<T>(run, begin, begin + n);
    return tile_;
  }
  static constexpr int64_t kMost = kReduceTileBytes / static_cast<int64_t>(sizeof(T));

 private:
  const ReduceStep& step_;
  alignas(64) T tile_[kMost];
};

// inner == 1: whole rows, several at a time, or blocks of long ones.
template <class T, class Op>
void reduce_row_items(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  T* y = static_cast<T*>(step.y);
  if (step.blocks == 1) {
    // Short rows are fast in whole vectors of results.
    constexpr int64_t w = Vec<T>::kLanes;
    const int64_t n = step.reduced, fit = Source<T>::kMost / n;
    const int64_t most = step.x ? last - first : fit > w ? fit / w * w : fit;
    for (int64_t rows; first < last; first += rows) {
      rows = smaller(last - first, most);
      reduce_rows<T, Op>(source.get(first * n, rows * n), rows, n, y + first, step.may_stream);
    }
    return;
  }
  // Full blocks of a row lie one after the other, like rows.
  const int64_t block = kBlockRows * step.merged, most = step.x ? last - first : Source<T>::kMost / block;
  for (int64_t count; first < last; first += count) {
    const int64_t row = first / step.blocks, begin = first % step.blocks * block, rest = step.reduced - begin;
    count = rest < block ? 1 : smaller(smaller(rest / block, last - first), most);
    const int64_t n = smaller(block, rest);
    reduce_rows<T, Op>(source.get(row * step.reduced + begin, count * n), count, n, y + first, false);
  }
}

// inner smaller than the lanes: a block is contiguous and short.
template <class T, class Op>
void reduce_narrow_items(const ReduceStep& step, int64_t first, int64_t last, Source<T>& source) {
  const int64_t block = kBlockRows * step.merged;
  for (; first < last; ++first) {
    const int64_t outer = first / step.blocks, begin = first % step.blocks * block;
    const int64_t rows = smaller(block, step.reduced - begin);
    const T* x = source.get((outer * step.reduced + begin) * step.inner, rows * step.inner);
    reduce_narrow<T, Op>(x, rows, step.inner, step.merged, static_cast<T*>(step.y) + first * step.inner);
  }
}

// Where an item of wide rows lies: one block of rows, one stretch of columns.
struct WideItem {
  int64_t x, y, rows, columns;
};
template <class T>
WideItem wide_item(const ReduceStep& step, int64_t item) {
  // A few blocks, of which the last may be short, go side by side, so that threads have like shares of it.
  constexpr int64_t kFewBlocks = 8;
  const int64_t stretches = (step.inner + kColumns<T> - 1) / kColumns<T>, per_outer = step.blocks * stretches;
  const int64_t outer = item / per_outer, i = item % per_outer;
  const bool by_columns = step.blocks < kFewBlocks;
  const int64_t block = by_columns ? i % step.blocks : i / stretches;
  const int64_t column = (by_columns ? i / step.blocks : i % stretches) * kColumns<T>, begin = block * kBlockRows;
  return {(outer * step.reduced + begin) * step.inner + column, (outer * step.blocks + block) * step.inner + column,
          smaller(kBlockRows, step.reduced - begin), smaller(kColumns<T>, step.inner - column)};
}

// Where reading goes on after an item; the short last block of a few is not worth asking for.
template <class T>
const T* next_item(const ReduceStep& step, int64_t item) {
  if (wide_item<T>(step, item).rows < 8) return nullptr;
  for (int64_t next = item + 1; next < step.items && next <= item + 2; ++next) {
    const WideItem at = wide_item<T>(step, next);
    if (at.rows >= 8) return static_cast<const T*>(step.x) + at.x;
  }
  return nullptr;
}

// x in memory.
template <class T, class Op>
void reduce_stored_item(const ReduceStep& step, int64_t item) {
  const WideItem at = wide_item<T>(step, item);
  T* y = static_cast<T*>(step.y) + at.y;
  const bool streaming = step.may_stream && at.rows < 8 && reinterpret_cast<uintptr_t>(y) % kVecBytes == 0;
  const T* x = static_cast<const T*>(step.x) + at.x;
  add_all_rows<T, Op>({x, at.rows, at.columns, step.inner, next_item<T>(step, item), true, streaming}, y);
}

template <class T, class Op>
void reduce_computed_item(const ReduceStep& step, int64_t item, Source<T>& source) {
  const WideItem at = wide_item<T>(step, item);
  const int64_t at_once = at.columns == step.inner ? Source<T>::kMost / at.columns : 1;
  for (int64_t row = 0; row < at.rows; row += at_once) {
    const int64_t n = smaller(at_once, at.rows - row);
    const T* x = source.get(at.x + row * step.inner, n * at.columns);
    add_all_rows<T, Op>({x, n, at.columns, at.columns, nullptr, row == 0, false}, static_cast<T*>(step.y) + at.y);
  }
}

template <class T, class Op>
void reduce_items(const ReduceStep& step, int64_t first, int64_t last) {
  Source<T> source(step);
  if (step.inner == 1) {
    reduce_row_items<T, Op>(step, first, last, source);
  } else if (step.inner < kLanes<T>) {
    reduce_narrow_items<T, Op>(step, first, last, source);
  } else {
    for (int64_t item = first; item < last; ++item)
      step.x ? reduce_stored_item<T, Op>(step, item) : reduce_computed_item<T, Op>(step, item, source);
  }
}

// y of the items of a chunk lies together, unless items are stretches of columns.
template <class T>
void divide(const ReduceStep& step, int64_t first, int64_t last) {
  T* y = static_cast<T*>(step.y);
  int64_t begin = first * step.inner, end = last * step.inner;
  if (step.inner >= kLanes<T>) {
    const int64_t stretches = (step.inner + kColumns<T> - 1) / kColumns<T>;
    begin = first / stretches * step.inner + first % stretches * kColumns<T>;
    end = last / stretches * step.inner + last % stretches * kColumns<T>;
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
