#pragma once
#include <martello/kernel/cpu/reduce_order.h>
#include <martello/kernel/cpu/vec_isa.h>

#include <utility>

// What the inner loops of reductions are made of. See Note [Order of sums].
namespace martello::cpu::MARTELLO_ISA {
namespace {

// The neutral element changes no bit of the other: -0 + x is x, also for x = -0.
template <class T>
struct Sum {
  static Vec<T> neutral() { return Vec<T>(-0.0); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return x + y; }
};
template <class T>
struct Prod {
  static Vec<T> neutral() { return Vec<T>(1); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return x * y; }
};
template <class T>
struct Max {
  static Vec<T> neutral() { return Vec<T>(-__builtin_inf()); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return max(x, y); }
};
template <class T>
struct Min {
  static Vec<T> neutral() { return Vec<T>(__builtin_inf()); }
  static Vec<T> apply(Vec<T> x, Vec<T> y) { return min(x, y); }
};

template <class T>
constexpr int64_t kLanes = kLaneBytes / static_cast<int64_t>(sizeof(T));

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// A vector at p of which `valid` lanes (any number) exist; the others are neutral.
template <class T, class Op>
Vec<T> load_valid(const T* p, int64_t valid) {
  if (valid >= Vec<T>::kLanes) return Vec<T>::load(p);
  return valid > 0 ? load_first(p, valid, Op::neutral()) : Op::neutral();
}

template <class T>
void store_valid(T* p, int64_t valid, Vec<T> x) {
  if (valid >= Vec<T>::kLanes) x.store(p);
  else store_first(p, valid, x);
}

// Blocks of `half` lanes with even and odd numbers, of x and y in a row.
template <class T, class Op, int half, int... I>
Vec<T> fold_two(Vec<T> x, Vec<T> y, std::integer_sequence<int, I...>) {
  const Vec<T> even = __builtin_shufflevector(x.v, y.v, (I / half * 2 * half + I % half)...);
  const Vec<T> odd = __builtin_shufflevector(x.v, y.v, (I / half * 2 * half + half + I % half)...);
  return Op::apply(even, odd);
}

}  // namespace
}  // namespace martello::cpu::MARTELLO_ISA
