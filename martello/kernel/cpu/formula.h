#pragma once
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/isa_levels.h>

// Note [Formulas]: an element-wise op is one line of a table, an expression of x, y, z (of type V) and of the
// instance's parameters p0 and p1 (double):
//
//   // ops/unary_formulas.h: nothing but the table
//   #define MARTELLO_UNARY_FORMULAS(F) F(square, x * x) F(leaky_relu, select(x > V(0), x, x * V(p0)))
//
//   // ops/unary_formulas.cc, under SRCS: the constants formula_square ...; 1 is the number of variables
//   MARTELLO_DEFINE_FORMULAS(1, MARTELLO_UNARY_FORMULAS)
//   // ops/unary_stages_isa.cc, under ISA_SRCS (with formula_stages_isa.h and the table): the vector code
//   MARTELLO_DEFINE_STAGES(1, MARTELLO_UNARY_FORMULAS)
//   // any header: declares the constants, in martello::cpu
//   MARTELLO_DECLARE_FORMULAS(MARTELLO_UNARY_FORMULAS)
//
// A new op is a new line. Numbers are written V(0.5). At hand are + - * / and comparisons (they give a mask, for
// select(mask, yes, no) and as_number(mask), and combine by & | !), max, min, abs, copysign, sqrt, rsqrt, floor, ceil,
// round (half to even), trunc, fma, is_nan and the functions of vecmath_isa.h. Names are unique over all tables.
// See example_formulas.h.
namespace martello::cpu {

struct Formula {
  const char* name;
  int arity;                  // 1 to 3
  const char* text;           // the expression, for run-time compilation
  const void* stages[kIsas];  // FormulaStages of each level
  double (*reference)(double x, double y, double z, double p0, double p1);
};

MARTELLO_PER_ISA(struct FormulaStages;)

}  // namespace martello::cpu

#define MARTELLO_DECLARE_FORMULA(name, ...) extern const Formula formula_##name;
#define MARTELLO_DECLARE_FORMULAS(TABLE) \
  namespace martello::cpu {              \
  TABLE(MARTELLO_DECLARE_FORMULA)        \
  }
