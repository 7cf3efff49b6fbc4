#pragma once
#include <martello/kernel/cpu/vecmath_exp_isa.h>

// Loops over the units of recurrent cells.
namespace martello::cpu::MARTELLO_ISA {

// A vector of units, or the first few lanes of one.
template <class T>
struct Units {
  int64_t lanes;
  bool is_whole() const { return lanes == Vec<T>::kLanes; }
  Vec<T> load(const T* p) const { return is_whole() ? Vec<T>::load(p) : load_first(p, lanes, Vec<T>(0)); }
  void store(T* p, Vec<T> x) const {
    if (is_whole()) x.store(p);
    else store_first(p, lanes, x);
  }
};

template <class T, class F>
void for_units(int64_t rows, int64_t units, F f) {
  constexpr int64_t kLanes = Vec<T>::kLanes;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t u = 0; u < units; u += kLanes) f(Units<T>{units - u < kLanes ? units - u : kLanes}, r, u);
}

}  // namespace martello::cpu::MARTELLO_ISA
