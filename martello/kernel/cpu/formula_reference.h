#pragma once
#include <martello/kernel/cpu/formula.h>

#include <cmath>

// The words of formulas for V = double, and the macro that defines a table's constants. See Note [Formulas].
namespace martello::cpu::reference {

using V = double;
using std::abs;
using std::ceil;
using std::copysign;
using std::cos;
using std::erf;
using std::exp;
using std::expm1;
using std::floor;
using std::fma;
using std::log;
using std::log1p;
using std::pow;
using std::sin;
using std::sqrt;
using std::tanh;
using std::trunc;

inline double select(bool m, double yes, double no) { return m ? yes : no; }
inline double as_number(bool m) { return m ? 1 : 0; }
inline bool is_nan(double x) { return x != x; }
inline double max(double x, double y) { return is_nan(x) || x > y ? x : y; }
inline double min(double x, double y) { return is_nan(x) || x < y ? x : y; }
inline double round(double x) { return std::nearbyint(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus(double x) { return max(x, 0) + std::log1p(std::exp(-std::abs(x))); }
inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x * 0x1.6a09e667f3bcdp-1)); }
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0x1.9884533d43651p-1 * (x + 0.044715 * x * x * x)));
}

}  // namespace martello::cpu::reference

#define MARTELLO_DEFINE_FORMULA(formula_name, formula_arity, formula_text, ...)                                       \
  namespace v2 {                                                                                                      \
  extern const FormulaStages stages_##formula_name;                                                                   \
  }                                                                                                                   \
  namespace v3 {                                                                                                      \
  extern const FormulaStages stages_##formula_name;                                                                   \
  }                                                                                                                   \
  namespace v4 {                                                                                                      \
  extern const FormulaStages stages_##formula_name;                                                                   \
  }                                                                                                                   \
  namespace reference {                                                                                               \
  static double formula_name##_value([[maybe_unused]] double x, [[maybe_unused]] double y, [[maybe_unused]] double z, \
                                     [[maybe_unused]] double p0, [[maybe_unused]] double p1) {                        \
    return __VA_ARGS__;                                                                                               \
  }                                                                                                                   \
  }                                                                                                                   \
  extern constinit const Formula formula_##formula_name = {                                                           \
      #formula_name,                                                                                                  \
      formula_arity,                                                                                                  \
      formula_text,                                                                                                   \
      {&v2::stages_##formula_name, &v3::stages_##formula_name, &v4::stages_##formula_name},                           \
      reference::formula_name##_value};
#define MARTELLO_DEFINE_FORMULA_1(name, ...) MARTELLO_DEFINE_FORMULA(name, 1, #__VA_ARGS__, __VA_ARGS__)
#define MARTELLO_DEFINE_FORMULA_2(name, ...) MARTELLO_DEFINE_FORMULA(name, 2, #__VA_ARGS__, __VA_ARGS__)
#define MARTELLO_DEFINE_FORMULA_3(name, ...) MARTELLO_DEFINE_FORMULA(name, 3, #__VA_ARGS__, __VA_ARGS__)
#define MARTELLO_DEFINE_FORMULAS(arity, TABLE) \
  namespace martello::cpu {                    \
  TABLE(MARTELLO_DEFINE_FORMULA_##arity)       \
  }
