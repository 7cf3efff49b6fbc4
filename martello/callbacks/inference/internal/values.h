#pragma once
#include <martello/base/error.h>
#include <martello/tensor/host_tensor.h>

#include <string_view>

// What inferencers read from values of any dtype.
namespace martello::internal {

// Throws unless both have the same number of elements.
inline void check_same_count(const HostTensor& a, std::string_view a_name, const HostTensor& b,
                             std::string_view b_name) {
  MARTELLO_CHECK(a.num_elements() == b.num_elements(), "'", a_name, "' is ", a.dtype(), a.shape(), " but '", b_name,
                 "' is ", b.dtype(), b.shape(), ". They need one value for each sample.");
}

// Element i, which is 0 or 1.
inline bool binary_at(const HostTensor& t, int64_t i, std::string_view name) {
  const double v = t.at(i);
  MARTELLO_CHECK(v == 0 || v == 1, "'", name, "' has a ", v, ", not 0 or 1.");
  return v == 1;
}

// Element i, which is the number of a class.
inline int64_t class_at(const HostTensor& t, int64_t i, int64_t classes, std::string_view name) {
  const double v = t.at(i);
  MARTELLO_CHECK(v >= 0 && v < static_cast<double>(classes) && v == static_cast<double>(static_cast<int64_t>(v)), "'",
                 name, "' has a class ", v, " outside of [0, ", classes, ").");
  return static_cast<int64_t>(v);
}

}  // namespace martello::internal
