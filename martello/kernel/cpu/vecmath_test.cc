#include <martello/kernel/cpu/vecmath_checks.h>

namespace martello::cpu {
namespace {

TEST(Vecmath, f32_is_within_2_ulp_on_every_level) { check_math<float>(40000); }
TEST(Vecmath, f64_is_within_2_ulp_on_every_level) { check_math<double>(40000); }

// gelu is a difference of nearly equal numbers for negative x: its error is measured against x.
template <class T>
void check_gelu(const Formula& formula, double (*exact)(double)) {
  const MathCase c{&formula, nullptr, 0, 0};
  std::vector<T> x;
  for (int i = -4000; i <= 4000; ++i) x.push_back(static_cast<T>(i * 0.002));
  const std::vector<T> y = evaluate(c, x, x, host_isa());
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(y[i], exact(x[i]), 2 * std::numeric_limits<T>::epsilon() * std::abs(x[i])) << x[i];
  }
  for (Isa isa : isas_here()) EXPECT_TRUE(same_bits(y, evaluate(c, x, x, isa)));
}

double gelu(double x) { return 0.5 * x * std::erfc(-x * 0x1.6a09e667f3bcdp-1); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(0x1.9884533d43651p-1 * (x + 0.044715 * x * x * x))); }

TEST(Vecmath, gelu_is_close_relative_to_its_argument) {
  check_gelu<float>(formula_example_gelu, gelu);
  check_gelu<double>(formula_example_gelu, gelu);
  check_gelu<float>(formula_example_gelu_tanh, gelu_tanh);
  check_gelu<double>(formula_example_gelu_tanh, gelu_tanh);
}

TEST(Vecmath, maximum_propagates_nan_from_either_side) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Formula* formula : {&formula_example_max, &formula_example_min}) {
    const std::vector<float> y =
        evaluate<float>({formula, nullptr, 0, 0}, {nan, 1, nan, 2}, {1, nan, nan, 3}, host_isa());
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]));
    EXPECT_EQ(y[3], formula == &formula_example_max ? 3 : 2);
  }
}

// The definition of fma is one rounding; v2 has no instruction for it.
TEST(Vecmath, fma_rounds_once_on_every_level) {
  std::vector<float> x, y, z, expected;
  add_points(x, 20000, -4, 4, 1);
  add_points(y, 20000, -4, 4, 2);
  add_points(z, 20000, -4, 4, 3);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 0) z[i] = -x[i] * y[i] * (1 + static_cast<float>(i % 7) * 1e-7f);  // cancels
    expected.push_back(std::fma(x[i], y[i], z[i]));
  }
  using A = ElementwiseArg;
  const auto program = program_of<float>(3, {{&formula_example_fma, {A::input(0), A::input(1), A::input(2)}, {}}});
  const Shape shape(static_cast<int64_t>(x.size())), shapes[] = {shape, shape, shape};
  for (Isa isa : isas_here()) {
    const ElementwiseKernel kernel(program, shape, shapes, std::nullopt, isa);
    EXPECT_TRUE(same_bits(expected, run_kernel<float>(kernel, {x, y, z}))) << to_string(isa);
  }
}

TEST(Formula, reference_and_text_come_from_the_same_line) {
  EXPECT_STREQ(formula_example_square.text, "x * x");
  EXPECT_EQ(formula_example_square.arity, 1);
  EXPECT_EQ(formula_example_leaky_relu.reference(-2, 0, 0, 0.5, 0), -1);
  EXPECT_EQ(formula_example_where.reference(1, 5, 6, 0, 0), 5);
  EXPECT_EQ(formula_example_between.reference(3, 0, 0, 1, 4), 1);
}

}  // namespace
}  // namespace martello::cpu
