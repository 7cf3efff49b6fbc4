#include <martello/ops/internal/finite_loops.h>

#include <type_traits>

namespace martello::cpu::MARTELLO_ISA {
namespace {

constexpr int kParts = 4, kPartLanes = 8;
constexpr int64_t kLanes = kParts * kPartLanes;  // sums side by side, one order on every level
using Wide = double __attribute__((vector_size(kPartLanes * sizeof(double))));
using Narrow = float __attribute__((vector_size(kPartLanes * sizeof(float))));

struct Sums {
  Wide squares[kParts] = {};
  Wide nothing[kParts] = {};  // of x - x: 0, or NaN for what is not finite

  template <class T>
  void add(const T* x) {
    using Part = std::conditional_t<std::is_same_v<T, float>, Narrow, Wide>;
    for (int k = 0; k < kParts; ++k) {
      Part part;
      __builtin_memcpy(&part, x + k * kPartLanes, sizeof part);
      const Wide wide = __builtin_convertvector(part, Wide);
      squares[k] += wide * wide;
      // A square of f32 always fits into f64, so that the sum itself tells.
      if constexpr (sizeof(T) == sizeof(double)) nothing[k] += wide - wide;
    }
  }
};

template <class T>
FiniteSum sum_of_squares(const T* x, int64_t count) {
  Sums lanes;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) lanes.add(x + i);
  if (i < count) {
    T rest[kLanes] = {};
    for (int64_t j = 0; i + j < count; ++j) rest[j] = x[i + j];
    lanes.add(rest);
  }
  FiniteSum sum;
  double nothing = 0;
  for (int k = 0; k < kParts; ++k)
    for (int j = 0; j < kPartLanes; ++j) {
      sum.squares += lanes.squares[k][j];
      nothing += lanes.nothing[k][j];
    }
  if constexpr (sizeof(T) < sizeof(double)) nothing = sum.squares - sum.squares;
  sum.is_finite = nothing == 0;
  return sum;
}

}  // namespace

extern const FiniteLoops finite_loops;
constinit const FiniteLoops finite_loops = {sum_of_squares<float>, sum_of_squares<double>};

}  // namespace martello::cpu::MARTELLO_ISA
