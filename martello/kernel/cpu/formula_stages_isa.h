#pragma once
#include <martello/kernel/cpu/engine.h>
#include <martello/kernel/cpu/vecmath_isa.h>

// Stages of threaded code: eight vectors arrive in registers, one more operand or two come from memory, and the next
// stage is called last, so that the call is a jump. See Note [Formulas] in formula.h.
#ifdef __clang__
#define MARTELLO_TAIL_CALL [[clang::musttail]] return
#else
#define MARTELLO_TAIL_CALL return
#endif
#define MARTELLO_STAGE_PARAMETERS(N) \
  N v0, N v1, N v2, N v3, N v4, N v5, N v6, N v7, const Instr *ip, const Operand *operands, int64_t i
#define MARTELLO_STAGE_NEXT(T) \
  MARTELLO_TAIL_CALL reinterpret_cast<StageOf<T>>(ip[1].stage)(v0, v1, v2, v3, v4, v5, v6, v7, ip + 1, operands, i)

namespace martello::cpu::MARTELLO_ISA {

template <class T>
using StageOf = void (*)(MARTELLO_STAGE_PARAMETERS(typename Vec<T>::Native));

template <class T>
T* operand_at(const Operand& operand, int64_t i) {
  return reinterpret_cast<T*>(operand.base + (i * static_cast<int64_t>(sizeof(T)) & operand.mask));
}

// F::value(x, y, z, p0, p1) with variable kPosition in registers and the others, in order, at operands a and b.
template <class T, class F, int kArity, int kPosition>
void formula_stage(MARTELLO_STAGE_PARAMETERS(typename Vec<T>::Native)) {
  using V = Vec<T>;
  const T* a = kArity > 1 ? operand_at<T>(operands[ip->a], i) : nullptr;
  const T* b = kArity > 2 ? operand_at<T>(operands[ip->b], i) : nullptr;
  const double p0 = ip->p0, p1 = ip->p1;
  const auto value = [&](V v, int k) {
    V other = v, third = v;
    if constexpr (kArity > 1) other = V::load(a + k * V::kLanes);
    if constexpr (kArity > 2) third = V::load(b + k * V::kLanes);
    if constexpr (kPosition == 0) return F::template value<V>(v, other, third, p0, p1).v;
    if constexpr (kPosition == 1) return F::template value<V>(other, v, third, p0, p1).v;
    if constexpr (kPosition == 2) return F::template value<V>(other, third, v, p0, p1).v;
  };
  v0 = value(v0, 0);
  v1 = value(v1, 1);
  v2 = value(v2, 2);
  v3 = value(v3, 3);
  v4 = value(v4, 4);
  v5 = value(v5, 5);
  v6 = value(v6, 6);
  v7 = value(v7, 7);
  MARTELLO_STAGE_NEXT(T);
}

struct FormulaStages {
  StageOf<float> f32[3];
  StageOf<double> f64[3];
};

// By the position of the variable in registers; positions beyond the arity repeat the last.
template <class F, int kArity>
constexpr FormulaStages formula_stages() {
  constexpr int second = kArity > 1 ? 1 : 0, third = kArity > 2 ? 2 : second;
  return {{formula_stage<float, F, kArity, 0>, formula_stage<float, F, kArity, second>,
           formula_stage<float, F, kArity, third>},
          {formula_stage<double, F, kArity, 0>, formula_stage<double, F, kArity, second>,
           formula_stage<double, F, kArity, third>}};
}

}  // namespace martello::cpu::MARTELLO_ISA

#define MARTELLO_DEFINE_STAGE(name, arity, ...)                                                                  \
  struct formula_of_##name {                                                                                     \
    template <class V>                                                                                           \
    static V value([[maybe_unused]] V x, [[maybe_unused]] V y, [[maybe_unused]] V z, [[maybe_unused]] double p0, \
                   [[maybe_unused]] double p1) {                                                                 \
      return __VA_ARGS__;                                                                                        \
    }                                                                                                            \
  };                                                                                                             \
  extern const FormulaStages stages_##name;                                                                      \
  constinit const FormulaStages stages_##name = formula_stages<formula_of_##name, arity>();
#define MARTELLO_DEFINE_STAGE_1(name, ...) MARTELLO_DEFINE_STAGE(name, 1, __VA_ARGS__)
#define MARTELLO_DEFINE_STAGE_2(name, ...) MARTELLO_DEFINE_STAGE(name, 2, __VA_ARGS__)
#define MARTELLO_DEFINE_STAGE_3(name, ...) MARTELLO_DEFINE_STAGE(name, 3, __VA_ARGS__)
#define MARTELLO_DEFINE_STAGES(arity, TABLE) \
  namespace martello::cpu::MARTELLO_ISA {    \
  TABLE(MARTELLO_DEFINE_STAGE_##arity)       \
  }
