#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace martello {

enum class DType : uint8_t { f32, f64, bf16, f16, i32, i64, u8, boolean };
inline constexpr DType f32 = DType::f32, f64 = DType::f64, bf16 = DType::bf16, f16 = DType::f16, i32 = DType::i32,
                       i64 = DType::i64, u8 = DType::u8, boolean = DType::boolean;  // `bool` is not a legal name
inline constexpr int kDTypes = 8;

std::string_view to_string(DType dtype);  // "f32" ... "bool"
std::optional<DType> find_dtype(std::string_view name);
constexpr int64_t size_of(DType d) {
  constexpr int64_t sizes[kDTypes] = {4, 8, 2, 2, 4, 8, 1, 1};
  return sizes[static_cast<int>(d)];
}
constexpr bool is_floating(DType d) { return d == f32 || d == f64 || d == bf16 || d == f16; }
constexpr bool is_integer(DType d) { return d == i32 || d == i64 || d == u8; }

// 16-bit floats as storage: converted to float to compute, rounded to nearest even when stored.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v);
  operator float() const;
};
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float v);
  operator float() const;
};

template <class T>
inline constexpr std::optional<DType> find_dtype_of = std::nullopt;
template <>
inline constexpr std::optional<DType> find_dtype_of<float> = f32;
template <>
inline constexpr std::optional<DType> find_dtype_of<double> = f64;
template <>
inline constexpr std::optional<DType> find_dtype_of<BFloat16> = bf16;
template <>
inline constexpr std::optional<DType> find_dtype_of<Float16> = f16;
template <>
inline constexpr std::optional<DType> find_dtype_of<int32_t> = i32;
template <>
inline constexpr std::optional<DType> find_dtype_of<int64_t> = i64;
template <>
inline constexpr std::optional<DType> find_dtype_of<long long> = i64;  // where int64_t is long
template <>
inline constexpr std::optional<DType> find_dtype_of<uint8_t> = u8;
template <>
inline constexpr std::optional<DType> find_dtype_of<bool> = boolean;

// A C++ type that an element may have.
template <class T>
concept Element = find_dtype_of<T>
.has_value();
template <Element T>
inline constexpr DType dtype_of = *find_dtype_of<T>;

// Calls f(T{}) with the C++ type of `dtype`.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::bf16: return f(BFloat16{});
    case DType::f16: return f(Float16{});
    case DType::i32: return f(int32_t{});
    case DType::i64: return f(int64_t{});
    case DType::u8: return f(uint8_t{});
    case DType::boolean: break;
  }
  return f(bool{});
}

}  // namespace martello
