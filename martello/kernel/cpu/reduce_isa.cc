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

// Wide rows, summed one after the other, `columns` of them at a time.
template <class T, class Op>
void reduce_wide_item(const ReduceStep& step, int64_t item, Source<T>& source) {
  const int64_t stretches = (step.inner + kColumns<T> - 1) / kColumns<T>, block = item / stretches;
  const int64_t column = item % stretches * kColumns<T>, columns = smaller(kColumns<T>, step.inner - column);
  const int64_t begin = block % step.blocks * kBlockRows;
  const int64_t rows = smaller(kBlockRows, step.reduced - begin);
  const int64_t x_begin = (block / step.blocks * step.reduced + begin) * step.inner + column;
  T* y = static_cast<T*>(step.y) + block * step.inner + column;
  const bool whole = columns == step.inner;
  const int64_t at_once = step.x ? rows : whole ? Source<T>::kMost / columns : 1;
  for (int64_t row = 0; row < rows; row += at_once) {
    const int64_t n = smaller(at_once, rows - row);
    const T* x = source.get(x_begin + row * step.inner, n * columns);
    accumulate_rows<T, Op>(x, n, columns, step.inner, row == 0, y);
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
    for (int64_t item = first; item < last; ++item) reduce_wide_item<T, Op>(step, item, source);
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
