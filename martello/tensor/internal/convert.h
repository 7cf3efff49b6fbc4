#pragma once
#include <martello/tensor/dtype.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

// One element from any dtype to any other: what HostTensor::cast and the cast op mean.
namespace martello::internal {

template <class T>
inline constexpr bool is_16_bit_float = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

// To float with the last bit set when bits were lost ("round to odd"): rounding that to 16 bits gives what rounding the
// double itself would, while double to nearest float to nearest 16 bits rounds twice.
inline float to_odd_float(double v) {
  const float nearest = static_cast<float>(v);
  if (static_cast<double>(nearest) == v || std::isnan(v) || (std::bit_cast<uint32_t>(nearest) & 1) != 0) return nearest;
  const bool is_away = std::abs(static_cast<double>(nearest)) > std::abs(v);
  // One step in magnitude is one step in the bits, for both signs.
  return std::bit_cast<float>(is_away ? std::bit_cast<uint32_t>(nearest) - 1 : std::bit_cast<uint32_t>(nearest) + 1);
}

// What does not fit into an integer becomes the nearest end of its range, and NaN becomes 0.
template <class To, class From>
To to_integer(From v) {
  constexpr To low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
  if constexpr (std::is_integral_v<From>) {
    if (static_cast<int64_t>(v) < static_cast<int64_t>(low)) return low;
    return static_cast<int64_t>(v) > static_cast<int64_t>(high) ? high : static_cast<To>(v);
  } else {
    const double d = static_cast<double>(v);
    if (std::isnan(d)) return 0;
    if (d <= static_cast<double>(low)) return low;
    // For i64, `high` as a double is 2^63: one too many, and so excluded.
    return d >= static_cast<double>(high) ? high : static_cast<To>(d);
  }
}

template <class To, class From>
To converted(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (is_16_bit_float<From>) return static_cast<float>(v) != 0;
    else return v != From{};
  } else if constexpr (std::is_integral_v<To>) {
    return to_integer<To>(v);
  } else if constexpr (is_16_bit_float<To> && (std::is_same_v<From, float> || is_16_bit_float<From>)) {
    return To(static_cast<float>(v));
  } else if constexpr (is_16_bit_float<To>) {
    return To(to_odd_float(static_cast<double>(v)));
  } else if constexpr (is_16_bit_float<From>) {
    return static_cast<To>(static_cast<float>(v));
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace martello::internal
