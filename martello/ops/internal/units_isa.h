#pragma once
#include <martello/kernel/cpu/vecmath_exp_isa.h>

// Loops over the units of recurrent cells.
namespace martello::cpu::MARTELLO_ISA {

// A vector of units.
struct WholeUnits {
  template <class T>
  Vec<T> load(const T* p) const {
    return Vec<T>::load(p);
  }
  template <class T>
  void store(T* p, Vec<T> x) const {
    x.store(p);
  }
};

// The first few lanes of one.
struct FewUnits {
  int64_t lanes;
  template <class T>
  Vec<T> load(const T* p) const {
    return load_first(p, lanes, Vec<T>(0));
  }
  template <class T>
  void store(T* p, Vec<T> x) const {
    store_first(p, lanes, x);
  }
};

// Calls that are left would hold up the sums around them, whose registers they may all use: hence `flatten`.
template <class T, class F>
[[gnu::flatten]] void for_units(int64_t rows, int64_t units, F f) {
  constexpr int64_t kLanes = Vec<T>::kLanes;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t u = 0;
    for (; u + kLanes <= units; u += kLanes) f(WholeUnits{}, r, u);
    if (u < units) f(FewUnits{units - u}, r, u);
  }
}

}  // namespace martello::cpu::MARTELLO_ISA
