#include <martello/models/internal/split_dim.h>

#include <martello/graph/core_ops.h>
#include <martello/ops/concat.h>
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
  TensorList parts;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) {
      parts.push_back(sizes[i]);
      continue;
    }
    parts.push_back(constant(HostTensor(dims[static_cast<size_t>(i)]), "size"));
    parts.push_back(constant(HostTensor(inner), "size"));
  }
  return reshape(x, stack(parts));
}

}  // namespace martello::internal
