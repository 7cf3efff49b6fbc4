#pragma once
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <vector>

// Obvious loops over indices, for the references of tests.
namespace martello::testing {

using Index = std::vector<int64_t>;

inline int64_t flat_index(const Shape& shape, const Index& index) {
  int64_t flat = 0;
  for (int i = 0; i < shape.rank(); ++i) flat = flat * shape[i] + index[static_cast<size_t>(i)];
  return flat;
}
inline double at(const HostTensor& t, const Index& index) { return t.at(flat_index(t.shape(), index)); }

inline Index index_of(const Shape& shape, int64_t flat) {
  Index index(static_cast<size_t>(shape.rank()));
  for (size_t i = index.size(); i-- > 0;) {
    const int64_t size = shape[static_cast<int>(i)];
    index[i] = flat % size;
    flat /= size;
  }
  return index;
}

// y[i] = f(i)
inline HostTensor tabulate(const Shape& shape, DType dtype, const std::function<double(const Index&)>& f) {
  HostTensor y(shape, dtype);
  for (int64_t i = 0; i < y.num_elements(); ++i) y.set(i, f(index_of(shape, i)));
  return y;
}

inline Index part(const Index& index, size_t begin, size_t end) {
  return Index(index.begin() + static_cast<std::ptrdiff_t>(begin), index.begin() + static_cast<std::ptrdiff_t>(end));
}
inline Index joined(Index a, const Index& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace martello::testing
