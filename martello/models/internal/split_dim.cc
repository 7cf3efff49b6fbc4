#include <martello/models/internal/split_dim.h>

#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>

#include <algorithm>

namespace martello::internal {

Tensor split_dim(Tensor x, int axis, int64_t inner) {
  std::vector<int64_t> dims = x.shape().without_symbols().symbolic();
  const auto at = dims.begin() + axis;
  if (*at != kUnknown) *at /= inner;
  dims.insert(at + 1, inner);
  const bool has_zero = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (std::count(dims.begin(), dims.end(), kUnknown) <= (has_zero ? 0 : 1)) return reshape(x, Shape(dims));
  const Tensor sizes = shape(x);
  Extents extents;
  for (int i = 0; i < x.rank(); ++i)
    if (i == axis) extents.add(dims[static_cast<size_t>(i)]), extents.add(inner);
    else extents.add(sizes[i]);
  return reshape(x, extents);
}

}  // namespace martello::internal
