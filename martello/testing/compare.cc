#include <martello/testing/internal/compare.h>

#include <martello/base/strings.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace martello::testing {
namespace {

// Below this an error is rounding of values that cancelled.
constexpr double kSmallestScale = 1e-3;

double typical_size(const HostTensor& tensor) {
  double squares = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double v = tensor.at(i);
    if (!std::isfinite(v)) continue;
    squares += v * v;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
}

bool close(double actual, double expected, double tolerance, double scale) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(actual - expected) <= tolerance * std::max(std::abs(expected), scale);
}

std::string place(const HostTensor& actual, int64_t i, int64_t bad) {
  return str("at ", index_text(i, actual.shape()), " of ", actual.dtype(), actual.shape(), " (", bad, " of ",
             actual.num_elements(), " elements differ): ");
}

}  // namespace

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-12;
    case DType::f16: return 2e-3;
    case DType::bf16: return 2e-2;
    default: return 1e-5;
  }
}

std::string index_text(int64_t i, const Shape& shape) {
  std::vector<std::string> parts(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    parts[static_cast<size_t>(axis)] = str(i % shape[axis]);
    i /= shape[axis];
  }
  return str("[", join(parts), "]");
}

std::string difference(const HostTensor& actual, const HostTensor& expected, double tolerance) {
  if (actual.shape() != expected.shape()) return str("shape ", actual.shape(), ", expected ", expected.shape());
  const bool is_exact = !is_floating(actual.dtype());
  const double scale = is_exact ? 0 : std::max(typical_size(expected), kSmallestScale);
  int64_t bad = 0, first = 0;
  for (int64_t i = actual.num_elements() - 1; i >= 0; --i) {
    if (close(actual.at(i), expected.at(i), is_exact ? 0 : tolerance, scale)) continue;
    first = i;
    ++bad;
  }
  if (bad == 0) return "";
  return str(place(actual, first, bad), "got ", actual.at(first), ", expected ", expected.at(first), " (tolerance ",
             tolerance, ")");
}

std::string bit_difference(const HostTensor& actual, const HostTensor& expected) {
  if (actual.same_bits(expected)) return "";
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
    return str(actual.dtype(), actual.shape(), " and ", expected.dtype(), expected.shape());
  const auto size = static_cast<size_t>(size_of(actual.dtype()));
  int64_t bad = 0, first = 0;
  for (int64_t i = actual.num_elements() - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(actual.raw() + at, expected.raw() + at, size) == 0) continue;
    first = i;
    ++bad;
  }
  return str(place(actual, first, bad), actual.at(first), " and ", expected.at(first), ", which differ by ",
             actual.at(first) - expected.at(first));
}

}  // namespace martello::testing
