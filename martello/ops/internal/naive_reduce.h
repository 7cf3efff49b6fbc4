#pragma once
#include <martello/ops/reduce.h>
#include <martello/tensor/host_tensor.h>

#include <vector>

// For tests: the obvious reduction.
namespace martello::internal {

// f(all elements that share an output), in order.
template <class F>
HostTensor naive_reduce(const HostTensor& x, const ReduceAttrs& attrs, F f, DType out = f64) {
  const Shape& shape = x.shape();
  const auto marked = marked_axes(attrs.axes, shape.rank());
  HostTensor y(reduced_shape(shape, marked, attrs.keep_dims), out);
  std::vector<std::vector<double>> groups(static_cast<size_t>(y.num_elements()));
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (int d = shape.rank(); d-- > 0; rest /= shape[d]) {
      if (marked[static_cast<size_t>(d)]) continue;
      at += rest % shape[d] * stride;
      stride *= shape[d];
    }
    groups[static_cast<size_t>(at)].push_back(x.at(i));
  }
  for (size_t i = 0; i < groups.size(); ++i) y.set(static_cast<int64_t>(i), f(groups[i]));
  return y;
}

}  // namespace martello::internal
