#include <martello/kernel/cpu/vecmath_checks.h>

namespace martello::cpu {
namespace {

TEST(VecmathSlow, f32_is_within_2_ulp_over_a_million_points) { check_math<float>(1000000); }
TEST(VecmathSlow, f64_is_within_2_ulp_over_a_million_points) { check_math<double>(1000000); }

}  // namespace
}  // namespace martello::cpu
