#include <martello/ops/internal/finite_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

constexpr int64_t kLanes = 256;  // sums side by side, one order on every level

// x - x is 0, or NaN for what is not finite.
template <class T>
FiniteSum sum_of_squares(const T* __restrict x, int64_t count) {
  double squares[kLanes] = {};
  T nothing[kLanes] = {};
  for (int64_t begin = 0; begin < count; begin += kLanes, x += kLanes) {
    const int64_t n = count - begin < kLanes ? count - begin : kLanes;
    for (int64_t j = 0; j < n; ++j) {
      const double wide = static_cast<double>(x[j]);
      squares[j] += wide * wide;
      nothing[j] += x[j] - x[j];
    }
  }
  FiniteSum sum;
  for (int64_t j = 0; j < kLanes; ++j) {
    sum.squares += squares[j];
    sum.is_finite = sum.is_finite && nothing[j] == 0;
  }
  return sum;
}

}  // namespace

extern const FiniteLoops finite_loops;
constinit const FiniteLoops finite_loops = {sum_of_squares<float>, sum_of_squares<double>};

}  // namespace martello::cpu::MARTELLO_ISA
