#pragma once
#include <martello/kernel/cpu/vecmath_sweep.h>

#include <gtest/gtest.h>

namespace martello::cpu {

// Every function within 2 ulp, and with the same bits on every level of this machine.
template <class T>
void check_math(int points) {
  for (const MathCase& c : math_cases()) {
    std::vector<T> x, y;
    add_points(x, points, c.low, c.high, 1);
    add_points(y, points, c.y_low, c.y_high, 2);
    const std::vector<T> got = evaluate(c, x, y, host_isa());
    const WorstError worst = worst_error(c, x, y, got);
    EXPECT_LE(worst.ulp, 2) << c.formula->name << (sizeof(T) == 4 ? " f32" : " f64") << " of " << worst.x << ", "
                            << worst.y << " is " << worst.got;
    for (Isa isa : isas_here()) {
      EXPECT_TRUE(same_bits(got, evaluate(c, x, y, isa))) << c.formula->name << " on " << to_string(isa);
    }
  }
}

}  // namespace martello::cpu
