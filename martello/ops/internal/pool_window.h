#pragma once
#include <martello/ops/internal/pool_loops.h>

// Which inputs and outputs of a pooling meet. Included by ISA sources too: each source has its own copy.
namespace martello::cpu {
namespace {

struct Range {
  int64_t begin, end;
};
inline Range clipped(int64_t begin, int64_t end, int64_t n) { return {begin < 0 ? 0 : begin, end < n ? end : n}; }
// Inputs under the window of output o.
inline Range window(const PoolAxis& a, int64_t o) {
  const int64_t first = o * a.stride - a.before;
  return clipped(first, first + a.size, a.in);
}
// Outputs whose window covers input i.
inline Range covering(const PoolAxis& a, int64_t i) {
  const int64_t reach = i + a.before, first = reach - a.size + 1;
  return clipped(first <= 0 ? 0 : (first + a.stride - 1) / a.stride, reach / a.stride + 1, a.out);
}
// Place of input i in the window of output o.
inline int64_t place(const PoolAxis& a, int64_t i, int64_t o) { return i + a.before - o * a.stride; }

}  // namespace
}  // namespace martello::cpu
