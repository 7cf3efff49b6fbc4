#include <gtest/gtest.h>
#include <martello/tensor/dtype.h>

#include <bit>
#include <cmath>
#include <limits>

namespace martello {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
T from_bits(int bits) {
  T v;
  v.bits = static_cast<uint16_t>(bits);
  return v;
}
template <class T>
int bits_of(float v) {
  return T(v).bits;
}
float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }

// What an f16 means, written from the definition.
float f16_value(int bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  const float magnitude = exponent == 31  ? kInf
                          : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                          : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// Rounding by search: between neighbours below and above a midpoint, and at the midpoint to the even one.
template <class T>
void expect_ties_to_even(int low_bits) {
  const double low = static_cast<float>(from_bits<T>(low_bits)), high = static_cast<float>(from_bits<T>(low_bits + 1));
  const auto middle = static_cast<float>((low + high) / 2);
  ASSERT_EQ(static_cast<double>(middle), (low + high) / 2);
  const int even = low_bits % 2 == 0 ? low_bits : low_bits + 1;
  ASSERT_EQ(bits_of<T>(middle), even) << low;
  ASSERT_EQ(bits_of<T>(-middle), even | 0x8000) << low;
  ASSERT_EQ(bits_of<T>(std::nextafter(middle, 0.f)), low_bits) << low;
  ASSERT_EQ(bits_of<T>(std::nextafter(middle, kInf)), low_bits + 1) << low;
}

TEST(DType, names_and_values_go_both_ways) {
  for (int i = 0; i < kDTypes; ++i) EXPECT_EQ(find_dtype(to_string(static_cast<DType>(i))), static_cast<DType>(i));
  EXPECT_EQ(to_string(boolean), "bool");
  EXPECT_EQ(find_dtype("float"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
}

TEST(DType, visit_calls_with_the_type_of_the_dtype) {
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    visit_dtype(dtype, [&]<class T>(T) {
      EXPECT_EQ(dtype_of<T>, dtype);
      EXPECT_EQ(static_cast<int64_t>(sizeof(T)), size_of(dtype));
    });
  }
}

TEST(BFloat16, all_patterns_round_trip) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto v = static_cast<float>(from_bits<BFloat16>(bits));
    const bool is_nan = (bits & 0x7f80) == 0x7f80 && (bits & 0x7f) != 0;
    ASSERT_EQ(std::isnan(v), is_nan);
    ASSERT_EQ(bits_of<BFloat16>(v), is_nan ? bits | 0x40 : bits);
  }
}

TEST(BFloat16, every_finite_gap_rounds_to_nearest_and_ties_to_even) {
  for (int bits = 0; bits < 0x7f7f; ++bits) expect_ties_to_even<BFloat16>(bits);
}

TEST(BFloat16, overflow_rounds_to_infinity) {
  EXPECT_EQ(bits_of<BFloat16>(float_of(0x7f7f7fff)), 0x7f7f);
  EXPECT_EQ(bits_of<BFloat16>(float_of(0x7f7f8000)), 0x7f80);
  EXPECT_EQ(bits_of<BFloat16>(-std::numeric_limits<float>::max()), 0xff80);
  EXPECT_EQ(bits_of<BFloat16>(kInf), 0x7f80);
}

TEST(BFloat16, a_nan_with_its_payload_in_the_lost_bits_stays_nan) {
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(float_of(0x7f800001)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(float_of(0xffffffff)))));
}

TEST(Float16, all_patterns_have_the_defined_value) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto v = static_cast<float>(from_bits<Float16>(bits));
    const bool is_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    ASSERT_EQ(std::isnan(v), is_nan);
    if (is_nan) continue;
    ASSERT_EQ(std::bit_cast<uint32_t>(v), std::bit_cast<uint32_t>(f16_value(bits)));
  }
}

TEST(Float16, all_patterns_round_trip) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto v = static_cast<float>(from_bits<Float16>(bits));
    ASSERT_EQ(bits_of<Float16>(v), std::isnan(v) ? bits | 0x200 : bits);
  }
}

TEST(Float16, every_finite_gap_rounds_to_nearest_and_ties_to_even) {
  for (int bits = 0; bits < 0x7bff; ++bits) expect_ties_to_even<Float16>(bits);
}

TEST(Float16, overflow_rounds_to_infinity) {
  EXPECT_EQ(bits_of<Float16>(65504.f), 0x7bff);
  EXPECT_EQ(bits_of<Float16>(std::nextafter(65520.f, 0.f)), 0x7bff);
  EXPECT_EQ(bits_of<Float16>(65520.f), 0x7c00);
  EXPECT_EQ(bits_of<Float16>(-1e30f), 0xfc00);
  EXPECT_EQ(bits_of<Float16>(-kInf), 0xfc00);
}

TEST(Float16, underflow_rounds_to_zero_and_keeps_the_sign) {
  EXPECT_EQ(bits_of<Float16>(0x1p-25f), 0);
  EXPECT_EQ(bits_of<Float16>(std::nextafter(0x1p-25f, 1.f)), 1);
  EXPECT_EQ(bits_of<Float16>(-0x1p-26f), 0x8000);
  EXPECT_EQ(bits_of<Float16>(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(bits_of<Float16>(-0.f), 0x8000);
}

TEST(Float16, a_nan_with_its_payload_in_the_lost_bits_stays_nan) {
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(float_of(0x7f800001)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(float_of(0xff800fff)))));
}

}  // namespace
}  // namespace martello
