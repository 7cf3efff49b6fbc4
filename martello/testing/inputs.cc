#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/philox.h>
#include <martello/testing/op_test.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace martello::testing {
namespace {

// The i-th number in [0, 1) of a stream.
double uniform_at(uint64_t seed, int64_t i, uint32_t stream = 0) {
  const auto block = Philox::block({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), stream, 0},
                                   {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return uniform_f64(block[0], block[1]);
}

HostTensor filled(Shape shape, DType dtype, const std::function<double(int64_t)>& f) {
  HostTensor tensor(std::move(shape), dtype);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.set(i, f(i));
  return tensor;
}

Shape broadcast_shape(const HostTensors& in) {
  int rank = 0;
  for (const HostTensor& t : in) rank = std::max(rank, t.shape().rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  for (const HostTensor& t : in) {
    for (int i = 1; i <= t.shape().rank(); ++i) {
      int64_t& d = dims[static_cast<size_t>(rank - i)];
      const int64_t size = t.shape()[-i];
      MARTELLO_CHECK(d == size || d == 1 || size == 1, "[map_elements] ", t.shape(), " does not broadcast to ",
                     Shape(dims), ".");
      if (d == 1) d = size;
    }
  }
  return Shape(std::move(dims));
}

// The element of `t` that meets element i of the broadcast shape.
int64_t source_index(int64_t i, const Shape& shape, const Shape& t) {
  int64_t index = 0, stride = 1;
  for (int axis = 1; axis <= shape.rank(); ++axis) {
    const int64_t coordinate = i % shape[-axis];
    i /= shape[-axis];
    if (axis > t.rank()) continue;
    if (t[-axis] != 1) index += coordinate * stride;
    stride *= t[-axis];
  }
  return index;
}

}  // namespace

HostTensor randn(Shape shape, uint64_t seed) {
  return filled(std::move(shape), f64, [&](int64_t i) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform_at(seed, i)));
    return radius * std::cos(2 * std::numbers::pi * uniform_at(seed, i, 1));
  });
}

HostTensor uniform(Shape shape, double low, double high, uint64_t seed) {
  return filled(std::move(shape), f64, [&](int64_t i) { return low + (high - low) * uniform_at(seed, i); });
}

HostTensor integers(Shape shape, int64_t low, int64_t high, DType dtype, uint64_t seed) {
  MARTELLO_CHECK(low < high, "[integers] there is none in [", low, ", ", high, ").");
  const auto range = static_cast<double>(high - low);
  return filled(std::move(shape), dtype,
                [&](int64_t i) { return static_cast<double>(low) + std::floor(range * uniform_at(seed, i)); });
}

HostTensor booleans(Shape shape, uint64_t seed) { return integers(std::move(shape), 0, 2, boolean, seed); }

HostTensor iota(Shape shape, DType dtype) {
  return filled(std::move(shape), dtype, [](int64_t i) { return static_cast<double>(i); });
}

HostTensor map_elements(const HostTensors& in, const std::function<double(const std::vector<double>&)>& f, DType out) {
  const Shape shape = broadcast_shape(in);
  std::vector<double> values(in.size());
  return filled(shape, out, [&](int64_t i) {
    for (size_t k = 0; k < in.size(); ++k) values[k] = in[k].at(source_index(i, shape, in[k].shape()));
    return f(values);
  });
}

}  // namespace martello::testing
