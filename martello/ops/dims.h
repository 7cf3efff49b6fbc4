#pragma once
#include <martello/graph/op_def.h>

#include <algorithm>
#include <string>
#include <vector>

// What shape functions of ops that move data share. A dimension is a size, kUnknown, or a symbol below it.
namespace martello::internal {

using KnownElements = std::optional<std::vector<int64_t>>;

constexpr bool may_be_equal(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }
// Whichever says more: a size, then a symbol, then kUnknown.
constexpr int64_t more_known(int64_t a, int64_t b) { return a >= 0 ? a : b >= 0 ? b : std::min(a, b); }
inline int64_t dim_of(const Shape& shape, int i) { return shape.symbolic()[static_cast<size_t>(i)]; }
std::string dims_text(const std::vector<int64_t>& dims);  // "[2, -1]"

// Throws unless input i is an i32 or i64 tensor.
void check_index_dtype(const ShapeContext& c, size_t i);
// Throws unless two shapes agree in every dimension known in both.
void check_same_shape(const ShapeContext& c, const char* a_name, const Shape& a, const char* b_name, const Shape& b);
// Each dimension from whichever says more.
Shape more_known(const Shape& a, const Shape& b);

// The sizes an op was asked for: the elements of input i, a vector, as far as they are known; without input i, `attr`.
std::vector<int64_t> asked_sizes(const ShapeContext& c, size_t i, const Shape& attr);

// Elements of input i, one kUnknown each where nothing is known; nothing when even their number is unknown.
KnownElements elements_of(const ShapeContext& c, size_t i);
// `.value` of ops that only change the shape.
KnownElements same_elements(const ShapeContext& c);

inline Rows same_if(bool keeps_rows) { return keeps_rows ? Rows::same : Rows::refused; }
// Bytes read and written, for ops that read as much as they write.
Cost copy_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&);

}  // namespace martello::internal
