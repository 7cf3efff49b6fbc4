#include <martello/base/error.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>

namespace martello::internal {
namespace {
constexpr int64_t kMostElements = 64;  // of a tensor whose elements are followed one by one
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::vector<std::string> parts;
  for (const int64_t d : dims) parts.push_back(str(d));
  return str("[", join(parts), "]");
}

void check_index_dtype(const ShapeContext& c, size_t i) {
  const DType dtype = c.in[i].dtype;
  MARTELLO_CHECK(dtype == i32 || dtype == i64, c.where(), input_name(c, i), " is ", c.in[i].str(),
                 "; indices and sizes are i32 or i64. Use cast().");
}

void check_same_shape(const ShapeContext& c, const char* a_name, const Shape& a, const char* b_name, const Shape& b) {
  bool is_ok = a.rank() == b.rank();
  for (int i = 0; is_ok && i < a.rank(); ++i) is_ok = may_be_equal(a[i], b[i]);
  MARTELLO_CHECK(is_ok, c.where(), a_name, " has shape ", a, " where ", b_name, " asks for ", b, ".");
}

Shape more_known(const Shape& a, const Shape& b) {
  Shape shape;
  for (int i = 0; i < a.rank(); ++i) shape.push_back(more_known(dim_of(a, i), dim_of(b, i)));
  return shape;
}

std::vector<int64_t> asked_sizes(const ShapeContext& c, size_t i, const Shape& attr) {
  if (i >= c.in.size()) return attr.symbolic();
  MARTELLO_CHECK(c.in.size() == i + 1, c.where(), "takes ", i + 1, " inputs at most but was given ", c.in.size(), ".");
  check_index_dtype(c, i);
  const bool is_vector = c.in[i].shape.rank() == 1 && c.in[i].shape[0] >= 0 && c.in[i].shape[0] <= kMostElements;
  MARTELLO_CHECK(is_vector, c.where(), "a shape is a vector of known length, at most ", kMostElements, "; this one is ",
                 c.in[i].str(), ". Use stack() of its sizes.");
  return *elements_of(c, i);
}

KnownElements elements_of(const ShapeContext& c, size_t i) {
  if (c.value(i)) return *c.value(i);
  if (!c.in[i].shape.is_known() || c.in[i].shape.num_elements() > kMostElements) return std::nullopt;
  return std::vector<int64_t>(static_cast<size_t>(c.in[i].shape.num_elements()), kUnknown);
}

KnownElements same_elements(const ShapeContext& c) {
  if (!c.value(0)) return std::nullopt;
  return *c.value(0);
}

Cost copy_cost(std::span<const TensorSpec>, std::span<const TensorSpec> out, const Attrs&) {
  Cost cost;
  for (const TensorSpec& y : out)
    if (y.shape.is_known())
      cost.bytes += 2.0 * static_cast<double>(y.shape.num_elements()) * static_cast<double>(size_of(y.dtype));
  return cost;
}

}  // namespace martello::internal
