#pragma once
#include <cstdint>

// How elements are ranked: NaN counts as larger than every number.
namespace martello::internal {

template <class T>
struct Larger {
  static bool beats(T a, T b) { return a > b || (a != a && b == b); }
};
template <class T>
struct Smaller {
  static bool beats(T a, T b) { return a < b || (b != b && a == a); }
};

// Whether x[i] comes before x[j] when the largest comes first, and of equal ones the lower index.
template <class T>
bool comes_before(const T* x, int64_t i, int64_t j) {
  return Larger<T>::beats(x[i], x[j]) || (!Larger<T>::beats(x[j], x[i]) && i < j);
}

}  // namespace martello::internal
