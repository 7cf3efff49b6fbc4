#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/tensor/shape.h>

#include <algorithm>

namespace martello {
namespace {

void check_range(const Shape& shape, int begin, int end) {
  MARTELLO_CHECK(0 <= begin && begin <= end && end <= shape.rank(), "[shape] dimensions [", begin, ", ", end, ") of ",
                 shape, ", which has rank ", shape.rank(), ".");
}

}  // namespace

int64_t Shape::operator[](int i) const {
  const int axis = normalized_axis(i, rank());
  MARTELLO_CHECK(axis >= 0, "[shape] dimension ", i, " is out of range for ", *this, ", which has rank ", rank(), ".");
  return std::max(dims_[static_cast<size_t>(axis)], kUnknown);
}

bool Shape::is_known() const {
  return std::all_of(dims_.begin(), dims_.end(), [](int64_t d) { return d >= 0; });
}

int64_t Shape::num_elements() const { return num_elements(0, rank()); }

int64_t Shape::num_elements(int begin, int end) const {
  check_range(*this, begin, end);
  const std::span dims(dims_.data() + begin, static_cast<size_t>(end - begin));
  const bool known = std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d >= 0; });
  MARTELLO_CHECK(known, "[shape] the number of elements of ", *this, " is not known: a dimension is not.");
  try {
    return checked_product(dims);
  } catch (Error& error) {
    error.add_context(martello::str("while counting the elements of ", *this));
    throw;
  }
}

std::string Shape::str() const {
  std::vector<std::string> parts;
  for (int64_t d : dims_) parts.push_back(d < 0 ? "?" : martello::str(d));
  return martello::str("[", join(parts), "]");
}

Shape Shape::without_symbols() const {
  Shape shape = *this;
  for (int64_t& d : shape.dims_) d = std::max(d, kUnknown);
  return shape;
}

void Shape::push_back(int64_t symbolic_dim) { dims_.push_back(symbolic_dim); }

Shape Shape::with(int i, int64_t symbolic_dim) const {
  const int axis = normalized_axis(i, rank());
  MARTELLO_CHECK(axis >= 0, "[shape] dimension ", i, " is out of range for ", *this, ", which has rank ", rank(), ".");
  Shape shape = *this;
  shape.dims_[static_cast<size_t>(axis)] = symbolic_dim;
  return shape;
}

Shape Shape::slice(int begin, int end) const {
  check_range(*this, begin, end);
  return Shape(std::vector<int64_t>(dims_.begin() + begin, dims_.begin() + end));
}

int normalized_axis(int axis, int rank) {
  if (axis < -rank || axis >= rank) return -1;
  return axis < 0 ? axis + rank : axis;
}

}  // namespace martello
