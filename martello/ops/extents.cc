#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/concat.h>
#include <martello/ops/extents.h>
#include <martello/ops/shape.h>

#include <algorithm>

namespace martello {

Extents::Extents(Shape shape)
    : sizes_(shape.without_symbols().symbolic()), tensors_(static_cast<size_t>(shape.rank())) {}

Extents::Extents(Tensor sizes) {
  if (!sizes.is_null() && sizes.rank() > 0) {
    vector_ = sizes;
  } else {
    add(sizes);
  }
}

void Extents::add(Tensor size) {
  has_null_ = has_null_ || size.is_null();
  sizes_.push_back(kUnknown);
  tensors_.push_back(size);
}

bool Extents::is_static() const {
  const auto is_number = [](Tensor t) { return t.is_null(); };
  return !has_null_ && vector_.is_null() && std::all_of(tensors_.begin(), tensors_.end(), is_number);
}

Shape Extents::shape() const { return vector_.is_null() ? Shape(sizes_) : Shape(); }

Tensor Extents::tensor(Name name) const {
  return with_line(name.line(), [&] { return sizes_tensor(name); });
}

Tensor Extents::sizes_tensor(Name name) const {
  MARTELLO_CHECK(!has_null_, "[extents '", name.text(),
                 "'] a size of a shape is a null Tensor: it was never assigned.");
  if (!vector_.is_null()) return vector_;
  DType dtype = i64;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].is_null()) continue;
    const DType own = tensors_[i].dtype();
    MARTELLO_CHECK(tensors_[i].rank() == 0 && (own == i32 || own == i64), "[extents '", name.text(), "'] size ", i,
                   " of a shape is '", tensors_[i].name(), "' ", own, tensors_[i].shape(),
                   "; beside others it is an i32 or i64 scalar. Use shape(x)[i] or cast().");
    dtype = own;
  }
  TensorList parts;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const auto number = [&] { return HostTensor::full(Shape(), dtype, static_cast<double>(sizes_[i])); };
    parts.push_back(tensors_[i].is_null() ? constant(number(), "size") : tensors_[i]);
  }
  return stack(parts, 0, str(name.text(), "_sizes"));
}

std::vector<Operand> with_extents(std::vector<Operand> in, const Extents& extents, Name name) {
  if (!extents.is_static()) in.push_back(Operand(extents.tensor(name), name.line()));
  return in;
}

Extents extents_like(Tensor x) {
  const auto& dims = x.shape().symbolic();
  const auto unknown = std::count_if(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
  const bool has_zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (unknown == 0 || (unknown == 1 && !has_zero)) return x.shape();
  return shape(x);
}

}  // namespace martello
