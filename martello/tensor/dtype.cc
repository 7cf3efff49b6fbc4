#include <martello/tensor/dtype.h>

#include <algorithm>
#include <bit>

namespace martello {
namespace {

constexpr std::string_view kNames[kDTypes] = {"f32", "f64", "bf16", "f16", "i32", "i64", "u8", "bool"};

constexpr uint32_t kInfinity = 0x7f800000;     // bits of float
constexpr uint32_t kOverflowF16 = 0x477ff000;  // 65520, half way between the largest f16 and the next step
constexpr uint32_t kNormalF16 = 0x38800000;    // 2^-14, the smallest normal f16
constexpr uint32_t kRebiasF16 = 112u << 23;    // exponent bias 127 against 15

// v / 2^shift to nearest, ties to even; a carry into the exponent is the right next value.
constexpr uint32_t rounded_shift(uint32_t v, uint32_t shift) {
  const uint32_t half_less_one = (1u << (shift - 1)) - 1, odd = (v >> shift) & 1;
  return (v + half_less_one + odd) >> shift;
}

constexpr uint32_t f16_magnitude(uint32_t x) {
  if (x > kInfinity) return 0x7e00 | ((x >> 13) & 0x3ff);
  if (x >= kOverflowF16) return 0x7c00;
  if (x >= kNormalF16) return rounded_shift(x - kRebiasF16, 13);
  // Subnormal, a multiple of 2^-24. Below 2^-25 everything rounds to zero, and the shift would leave the word.
  const uint32_t exponent = x >> 23;
  if (exponent < 102) return 0;
  return rounded_shift((x & 0x7fffff) | 0x800000, 126 - exponent);
}

}  // namespace

std::string_view to_string(DType dtype) { return kNames[static_cast<int>(dtype)]; }

std::optional<DType> find_dtype(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<DType>(found - std::begin(kNames));
}

BFloat16::BFloat16(float v) {
  const auto x = std::bit_cast<uint32_t>(v);
  const bool is_nan = (x & 0x7fffffff) > kInfinity;
  // A NaN whose payload lies in the lost bits alone would become infinity: it is made quiet instead.
  bits = static_cast<uint16_t>(is_nan ? (x >> 16) | 0x40 : rounded_shift(x, 16));
}

BFloat16::operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

Float16::Float16(float v) {
  const auto x = std::bit_cast<uint32_t>(v);
  bits = static_cast<uint16_t>(((x >> 16) & 0x8000) | f16_magnitude(x & 0x7fffffff));
}

Float16::operator float() const {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  uint32_t magnitude = (exponent << 23) + kRebiasF16 + (fraction << 13);
  if (exponent == 0) magnitude = std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
  if (exponent == 31) magnitude = kInfinity | (fraction << 13);
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace martello
