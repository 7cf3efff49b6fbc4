#include <martello/ops/internal/resize_loops.h>
#include <string.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

// y += the columns of one row of the input, times `weight`.
template <class T, int64_t kInner>
void add_row(const ResizeTask<T>& t, const T* x, T weight, T* y) {
  const int64_t inner = kInner > 0 ? kInner : t.inner;
  for (int64_t o = 0; o < t.out_width; ++o)
    for (int64_t k = t.columns.first[o]; k < t.columns.first[o + 1]; ++k) {
      const T* from = x + t.columns.from[k] * inner;
      const T w = weight * t.columns.weight[k];
      for (int64_t c = 0; c < inner; ++c) y[o * inner + c] += w * from[c];
    }
}

template <class T>
void line(const ResizeTask<T>& t, int64_t line, T* y) {
  memset(y, 0, static_cast<size_t>(t.out_width * t.inner) * sizeof(T));
  for (int64_t k = t.rows.first[line]; k < t.rows.first[line + 1]; ++k) {
    const T* x = t.x + t.rows.from[k] * t.in_width * t.inner;
    switch (t.inner) {
      case 1: add_row<T, 1>(t, x, t.rows.weight[k], y); break;
      case 3: add_row<T, 3>(t, x, t.rows.weight[k], y); break;
      default: add_row<T, 0>(t, x, t.rows.weight[k], y); break;
    }
  }
}

}  // namespace

extern const ResizeLoops resize_loops = {line<float>, line<double>};

}  // namespace martello::cpu::MARTELLO_ISA
