#pragma once
#include <martello/kernel/cpu/isa_levels.h>

#include <stdint.h>

// The loops of reduce_isa.cc, for types whose result does not depend on the order: integers and bools. Included by ISA
// sources too, hence C headers only.
namespace martello::cpu {

template <class T>
struct PlainReduceLoops {
  // `acc` and n elements side by side.
  T (*fold)(T acc, const T* x, int64_t n);
  // acc[j] and the column x[0 .. rows, j] for each of n columns, whose rows are `stride` apart.
  void (*add_rows)(const T* x, int64_t rows, int64_t stride, int64_t n, T* acc);
};
template <class T>
struct IntegerReduceLoops {
  PlainReduceLoops<T> sum, prod, max, min;
};
struct BoolReduceLoops {
  PlainReduceLoops<bool> all, any;
};

MARTELLO_PER_ISA(extern const IntegerReduceLoops<int32_t> reduce_loops_i32;
                 extern const IntegerReduceLoops<int64_t> reduce_loops_i64;
                 extern const BoolReduceLoops reduce_loops_bool;)

}  // namespace martello::cpu
