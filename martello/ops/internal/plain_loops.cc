#include <martello/ops/internal/plain_loops_impl.h>

namespace martello {
namespace {

using namespace internal;

// Arithmetic modulo 2^bits: in unsigned integers that no promotion turns signed.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
constexpr Wide<T> wide(T v) {
  return static_cast<Wide<T>>(v);
}
template <class T>
constexpr T negated(T v) {
  return static_cast<T>(Wide<T>{0} - wide(v));
}

// clang-format off
struct Negative { template <class T> static T of(T x) { return negated(x); } };
struct Abs { template <class T> static T of(T x) { return x < T{0} ? negated(x) : x; } };
struct Sign { template <class T> static T of(T x) { return static_cast<T>((x > T{0}) - (x < T{0})); } };
struct Square { template <class T> static T of(T x) { return static_cast<T>(wide(x) * wide(x)); } };
struct LogicalNot { static bool of(bool x) { return !x; } };
struct BitwiseNot { template <class T> static T of(T x) { return static_cast<T>(~wide(x)); } };

struct Add { template <class T> static T of(T a, T b) { return static_cast<T>(wide(a) + wide(b)); } };
struct Subtract { template <class T> static T of(T a, T b) { return static_cast<T>(wide(a) - wide(b)); } };
struct Multiply { template <class T> static T of(T a, T b) { return static_cast<T>(wide(a) * wide(b)); } };
struct Maximum { template <class T> static T of(T a, T b) { return a > b ? a : b; } };
struct Minimum { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct SquaredDifference { template <class T> static T of(T a, T b) { return Square::of(Subtract::of(a, b)); } };

struct And { template <class T> static T of(T a, T b) { return static_cast<T>(a & b); } };
struct Or { template <class T> static T of(T a, T b) { return static_cast<T>(a | b); } };
struct Xor { template <class T> static T of(T a, T b) { return static_cast<T>(a ^ b); } };
// clang-format on

// Quotients by -1 are negations: the smallest number has none that fits, and wraps instead of trapping.
template <class T>
constexpr bool is_minus_one(T b) {
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}

struct Divide {
  static constexpr bool kDivides = true;
  template <class T>
  static T of(T a, T b) {
    return is_minus_one(b) ? negated(a) : static_cast<T>(a / b);
  }
};
struct FloorDiv {
  static constexpr bool kDivides = true;
  template <class T>
  static T of(T a, T b) {
    if (is_minus_one(b)) return negated(a);
    const T quotient = static_cast<T>(a / b);
    return (a % b != 0) && ((a < T{0}) != (b < T{0})) ? static_cast<T>(quotient - 1) : quotient;
  }
};
struct Mod {
  static constexpr bool kDivides = true;
  template <class T>
  static T of(T a, T b) {
    if (is_minus_one(b)) return 0;
    const T rest = static_cast<T>(a % b);
    return rest != 0 && ((rest < T{0}) != (b < T{0})) ? static_cast<T>(rest + b) : rest;
  }
};

template <class T>
Kernel where_of(const KernelPlan& plan) {
  return [loop = BroadcastLoop(plan)](const KernelRun& run) {
    const auto* c = input_of<bool>(run, 0);
    const auto *a = input_of<T>(run, 1), *b = input_of<T>(run, 2);
    auto* y = output_of<T>(run);
    const int64_t step_c = loop.step(0), step_a = loop.step(1), step_b = loop.step(2);
    loop.run(run, [=](int64_t first, const BroadcastLoop::Offsets& in, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        y[first + i] = c[in[0] + i * step_c] != 0 ? a[in[1] + i * step_a] : b[in[2] + i * step_b];
    });
  };
}

}  // namespace

Kernel PlainLoops::plan(const KernelPlan& plan) const {
  const DType dtype = plan.in.back().dtype;
  const KernelFn fn = dtype == DType::i32 ? i32 : dtype == DType::i64 ? i64 : dtype == DType::u8 ? u8 : boolean;
  MARTELLO_ASSERT(fn != nullptr, plan.op.where(), "has no loop for ", dtype);
  return fn(plan);
}

constinit const PlainLoops loops_negative = unary_loops<Negative>(), loops_abs = unary_loops<Abs>(),
                           loops_sign = unary_loops<Sign>(), loops_square = unary_loops<Square>(),
                           loops_bitwise_not = unary_loops<BitwiseNot>(),
                           loops_logical_not = {.boolean = unary_loop<LogicalNot, bool>};
constinit const PlainLoops loops_add = integer_loops<Add>(), loops_subtract = integer_loops<Subtract>(),
                           loops_multiply = integer_loops<Multiply>(), loops_divide = integer_loops<Divide>(),
                           loops_floor_div = integer_loops<FloorDiv>(), loops_mod = integer_loops<Mod>(),
                           loops_maximum = integer_loops<Maximum>(), loops_minimum = integer_loops<Minimum>(),
                           loops_squared_difference = integer_loops<SquaredDifference>();
constinit const PlainLoops loops_and = integer_and_bool_loops<And>(), loops_or = integer_and_bool_loops<Or>(),
                           loops_xor = integer_and_bool_loops<Xor>();

Kernel where_loop(const KernelPlan& plan) {
  switch (size_of(plan.out[0].dtype)) {
    case 1: return where_of<uint8_t>(plan);
    case 2: return where_of<uint16_t>(plan);
    case 4: return where_of<uint32_t>(plan);
    default: return where_of<uint64_t>(plan);
  }
}

}  // namespace martello
