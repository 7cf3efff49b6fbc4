#include <martello/ops/internal/plain_loops_impl.h>

namespace martello {
namespace {

using namespace internal;

// clang-format off
struct Equal { template <class T> static bool of(T a, T b) { return a == b; } };
struct NotEqual { template <class T> static bool of(T a, T b) { return a != b; } };
struct Less { template <class T> static bool of(T a, T b) { return a < b; } };
struct LessEqual { template <class T> static bool of(T a, T b) { return a <= b; } };
struct Greater { template <class T> static bool of(T a, T b) { return a > b; } };
struct GreaterEqual { template <class T> static bool of(T a, T b) { return a >= b; } };
// clang-format on

}  // namespace

constinit const PlainLoops loops_equal = integer_and_bool_loops<Equal>(),
                           loops_not_equal = integer_and_bool_loops<NotEqual>(),
                           loops_less = integer_and_bool_loops<Less>(),
                           loops_less_equal = integer_and_bool_loops<LessEqual>(),
                           loops_greater = integer_and_bool_loops<Greater>(),
                           loops_greater_equal = integer_and_bool_loops<GreaterEqual>();

}  // namespace martello
