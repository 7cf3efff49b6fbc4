#pragma once
#include <martello/tensor/host_tensor.h>

#include <cmath>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

// Tests against files of tests/golden: weights that both sides make from the names of variables, as weights.py there.
namespace martello::internal {

inline uint64_t golden_seed(std::string_view name) {
  uint64_t sum = 0;
  for (size_t i = 0; i < name.size(); ++i) sum += (i + 1) * static_cast<unsigned char>(name[i]);
  return sum * 7919;
}

// Element i, in [-1, 1).
inline double golden_noise(uint64_t seed, int64_t i) {
  uint64_t h = (static_cast<uint64_t>(i) + seed) * 2654435761u & 0xFFFFFFFFu;
  h ^= h >> 16;
  h = h * 2246822519u & 0xFFFFFFFFu;
  h ^= h >> 13;
  return static_cast<double>(h) / 2147483648.0 - 1.0;
}

struct GoldenRange {
  double offset, scale;
};

template <class T>
HostTensor golden_values(std::string_view name, const Shape& shape, GoldenRange range) {
  HostTensor t(shape, dtype_of<T>);
  const uint64_t seed = golden_seed(name);
  int64_t i = 0;
  for (T& v : t.mutable_data<T>()) v = static_cast<float>(range.offset + range.scale * golden_noise(seed, i++));
  return t;
}
inline HostTensor golden_values(std::string_view name, const Shape& shape, DType dtype, GoldenRange range) {
  return dtype == f32 ? golden_values<float>(name, shape, range) : golden_values<double>(name, shape, range);
}

inline HostTensor golden_image(const Shape& shape, DType dtype) { return golden_values("image", shape, dtype, {0, 1}); }

inline GoldenRange golden_range(std::string_view name, const Shape& shape) {
  if (name.ends_with("/gamma")) return {1, 0.2};
  if (name.ends_with("variance/EMA")) return {1, 0.5};
  if (shape.rank() < 2) return {0, 0.1};
  return {0, std::sqrt(6.0 / static_cast<double>(shape.num_elements(0, shape.rank() - 1)))};
}

inline HostTensor golden_weight(std::string_view name, const Shape& shape, DType dtype) {
  return golden_values(name, shape, dtype, golden_range(name, shape));
}

// The numbers of a file; none when it is missing.
inline std::vector<double> read_golden(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name + ".txt");
  std::vector<double> values;
  for (double v; file >> v;) values.push_back(v);
  return values;
}

}  // namespace martello::internal
