#pragma once
#include <martello/graph/op_def.h>

#include <optional>
#include <vector>

// Shapes and dtypes that all element-wise ops share.
namespace martello {

// A set of dtypes, one bit each.
struct DTypeSet {
  uint32_t bits = 0;
  template <class... D>
  static constexpr DTypeSet of(D... dtypes) {
    return {((1u << static_cast<uint32_t>(dtypes)) | ... | 0u)};
  }
  constexpr bool has(DType d) const { return (bits >> static_cast<uint32_t>(d) & 1u) != 0; }
  constexpr DTypeSet operator|(DTypeSet other) const { return {bits | other.bits}; }
  std::string str() const;  // "f32, f64"
};
inline constexpr DTypeSet kFloatingDTypes = DTypeSet::of(f32, f64);
inline constexpr DTypeSet kIntegerDTypes = DTypeSet::of(i32, i64, u8);
inline constexpr DTypeSet kNumericDTypes = kFloatingDTypes | kIntegerDTypes;
inline constexpr DTypeSet kComparedDTypes = kNumericDTypes | DTypeSet::of(boolean);

// Numpy's rule for two shapes; nothing when known sizes disagree. Equal symbols stay; an unknown dimension takes the
// other's size when that is not 1, and stays unknown beside another unknown.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
// Of all inputs from `first` on. Throws with the two inputs that disagree.
Shape broadcast_shapes(const ShapeContext& c, size_t first = 0);

// "a" for input 0 of add; "xs[2]" for the third of a list.
std::string input_name(const ShapeContext& c, size_t i);
// Throws unless inputs from `first` on have one dtype, and that is in `allowed`.
void check_dtypes(const ShapeContext& c, DTypeSet allowed, size_t first = 0);

// Shape functions: one dtype in, broadcast, and the dtype named by the set (or bool) out.
std::vector<TensorSpec> floating_shape(const ShapeContext& c);
std::vector<TensorSpec> numeric_shape(const ShapeContext& c);
std::vector<TensorSpec> integer_shape(const ShapeContext& c);
std::vector<TensorSpec> logical_shape(const ShapeContext& c);
std::vector<TensorSpec> comparison_shape(const ShapeContext& c);  // -> bool
std::vector<TensorSpec> predicate_shape(const ShapeContext& c);   // floating -> bool
// Output 0 is like input 0, any dtype.
std::vector<TensorSpec> same_shape(const ShapeContext& c);

// Rows of input i that depend on data are the output's when both lie in dimension 0; anywhere else they are refused.
Rows elementwise_rows(const ShapeContext& c, size_t i);
// One operation per element; every input read once, every output written once.
Cost elementwise_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&);

}  // namespace martello
