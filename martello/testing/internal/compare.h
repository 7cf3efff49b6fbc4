#pragma once
#include <martello/tensor/host_tensor.h>

#include <string>

namespace martello::testing {

// What is wrong with `actual`, starting with the first bad index and both values; "" when all elements are within
// `tolerance`, relative to the element or to the typical size of all of them. Not-a-numbers agree with each other.
std::string difference(const HostTensor& actual, const HostTensor& expected, double tolerance);
// Dtype, shape and bits; "" when they are the same.
std::string bit_difference(const HostTensor& actual, const HostTensor& expected);
// 1e-5 for f32, 1e-12 for f64, what 16 bits allow for the others.
double default_tolerance(DType dtype);
// "[1, 2]" of element i in row-major order.
std::string index_text(int64_t i, const Shape& shape);

}  // namespace martello::testing
