#pragma once
#include <martello/base/philox.h>
#include <martello/kernel/cpu/example_kernels.h>

#include <bit>
#include <cmath>
#include <limits>

// Errors of the vector math against long double, over bit patterns of the whole range, a range of interest and the
// special values.
namespace martello::cpu {

struct MathCase {
  const Formula* formula;
  long double (*exact)(long double x, long double y);
  double low, high;  // the range that matters most
  double y_low = 0, y_high = 0;
};

inline std::vector<MathCase> math_cases() {
  using L = long double;
  return {
      {&formula_example_exp, [](L x, L) { return std::exp(x); }, -110, 110},
      {&formula_example_expm1, [](L x, L) { return std::expm1(x); }, -3, 3},
      {&formula_example_log, [](L x, L) { return std::log(x); }, 0.25, 4},
      {&formula_example_log1p, [](L x, L) { return std::log1p(x); }, -1, 3},
      {&formula_example_sin, [](L x, L) { return std::sin(x); }, -1000, 1000},
      {&formula_example_cos, [](L x, L) { return std::cos(x); }, -1000, 1000},
      {&formula_example_tanh, [](L x, L) { return std::tanh(x); }, -3, 3},
      {&formula_example_sigmoid, [](L x, L) { return 1 / (1 + std::exp(-x)); }, -20, 20},
      {&formula_example_softplus, [](L x, L) { return std::fmax(x, L(0)) + std::log1p(std::exp(-std::fabs(x))); }, -20,
       20},
      {&formula_example_erf, [](L x, L) { return std::erf(x); }, -4, 4},
      {&formula_example_rsqrt, [](L x, L) { return 1 / std::sqrt(x); }, 0, 10},
      {&formula_example_pow, [](L x, L y) { return std::pow(x, y); }, 0, 30, -40, 40},
  };
}

template <class T>
T from_random_bits(uint32_t high, uint32_t low) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<float>(high);
  else return std::bit_cast<double>((uint64_t{high} << 32) | low);
}

template <class T>
void add_points(std::vector<T>& out, int count, double low, double high, uint32_t key) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       2,
                       -2,
                       3,
                       T(0.5),
                       T(-0.5),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       T(0x1p20),
                       T(0x1.000002p20),
                       T(1e22),
                       T(88.72),
                       T(-103.9),
                       T(709.78),
                       T(-745.1)};
  const size_t specials = sizeof special / sizeof special[0];
  for (int i = 0; i < count; ++i) {
    const auto r = Philox::block({static_cast<uint32_t>(i), 0, 0, 0}, {key, 1});
    const size_t s = static_cast<size_t>(i);
    if (s < specials * specials) out.push_back(special[key == 1 ? s % specials : s / specials]);
    else if (i % 2) out.push_back(from_random_bits<T>(r[0], r[1]));
    else out.push_back(static_cast<T>(low + (high - low) * uniform_f64(r[2], r[3])));
  }
}

// In units of the last place of the exact value; huge for a wrong NaN or infinity.
template <class T>
double ulp_error(T y, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (rounded != rounded) return y != y ? 0 : 1e30;
  if (y == rounded) return 0;
  const T most = std::numeric_limits<T>::max();
  if (std::isinf(rounded)) return std::isinf(exact) || y != std::copysign(most, rounded) ? 1e30 : 1;
  if (std::isinf(y)) return std::fabs(rounded) == most ? 1 : 1e30;
  const T magnitude = std::fabs(rounded);
  const long double ulp = magnitude == most ? magnitude - std::nextafter(magnitude, T(0))
                                            : std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::fabs(y - exact) / ulp);
}

struct WorstError {
  double ulp = 0, x = 0, y = 0, got = 0;
};

template <class T>
std::vector<T> evaluate(const MathCase& c, const std::vector<T>& x, const std::vector<T>& y, Isa isa) {
  const auto program = program_of<T>(2, {{c.formula, {ElementwiseArg::input(0), ElementwiseArg::input(1)}, {}}});
  const Shape shape(static_cast<int64_t>(x.size())), shapes[] = {shape, shape};
  return run_kernel<T>(ElementwiseKernel(program, shape, shapes, std::nullopt, isa), {x, y});
}

template <class T>
WorstError worst_error(const MathCase& c, const std::vector<T>& x, const std::vector<T>& y, const std::vector<T>& got) {
  WorstError worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const double e = ulp_error<T>(got[i], c.exact(x[i], y[i]));
    if (e > worst.ulp) worst = {e, x[i], y[i], got[i]};
  }
  return worst;
}

}  // namespace martello::cpu
