#include <martello/ops/internal/reduce_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

// Sums and products wrap.
template <class T>
struct Wrapping {
  using Type = T;
};
template <>
struct Wrapping<int32_t> {
  using Type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using Type = uint64_t;
};

struct Add {
  template <class T>
  static T of(T a, T b) {
    using U = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    using U = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  }
};
struct Larger {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct And {
  static uint8_t of(uint8_t a, uint8_t b) { return a & b; }
};
struct Or {
  static uint8_t of(uint8_t a, uint8_t b) { return a | b; }
};

// Bools are bytes of 0 and 1.
template <class T>
struct Element {
  using Type = T;
};
template <>
struct Element<bool> {
  using Type = uint8_t;
};

template <class Op, class T>
T fold(T acc, const T* x, int64_t n) {
  using E = typename Element<T>::Type;
  const E* from = reinterpret_cast<const E*>(x);
  E result = static_cast<E>(acc);
  for (int64_t i = 0; i < n; ++i) result = Op::of(result, from[i]);
  return static_cast<T>(result);
}

template <class Op, class E>
void add_four(const E* a, int64_t stride, int64_t n, E* __restrict acc) {
  const E *b = a + stride, *c = b + stride, *d = c + stride;
  for (int64_t j = 0; j < n; ++j) acc[j] = Op::of(Op::of(acc[j], a[j]), Op::of(Op::of(b[j], c[j]), d[j]));
}

// Four at a time, so that acc is touched seldom. The next four are asked for, as prefetchers stop at a row's end.
template <class Op, class T>
void add_rows(const T* from, int64_t rows, int64_t stride, int64_t n, T* into) {
  using E = typename Element<T>::Type;
  constexpr int64_t kPiece = 256 / static_cast<int64_t>(sizeof(E)), kLine = 64 / static_cast<int64_t>(sizeof(E));
  const E* x = reinterpret_cast<const E*>(from);
  E* acc = reinterpret_cast<E*>(into);
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    for (int64_t first = 0; first < n; first += kPiece) {
      const int64_t count = n - first < kPiece ? n - first : kPiece;
      const E* at = x + r * stride + first;
      for (int64_t i = 4; i < 8; ++i)
        for (int64_t j = 0; j < count; j += kLine) __builtin_prefetch(at + i * stride + j, 0, 2);
      if (count == kPiece) add_four<Op>(at, stride, kPiece, acc + first);
      else add_four<Op>(at, stride, count, acc + first);
    }
  }
  for (; r < rows; ++r)
    for (int64_t j = 0; j < n; ++j) acc[j] = Op::of(acc[j], x[r * stride + j]);
}

template <class Op, class T>
constexpr PlainReduceLoops<T> kLoops = {fold<Op, T>, add_rows<Op, T>};

}  // namespace

extern const IntegerReduceLoops<int32_t> reduce_loops_i32 = {kLoops<Add, int32_t>, kLoops<Multiply, int32_t>,
                                                             kLoops<Larger, int32_t>, kLoops<Smaller, int32_t>};
extern const IntegerReduceLoops<int64_t> reduce_loops_i64 = {kLoops<Add, int64_t>, kLoops<Multiply, int64_t>,
                                                             kLoops<Larger, int64_t>, kLoops<Smaller, int64_t>};
extern const BoolReduceLoops reduce_loops_bool = {kLoops<And, bool>, kLoops<Or, bool>};

}  // namespace martello::cpu::MARTELLO_ISA
