#pragma once
#include <martello/tensor/tensor_spec.h>

#include <string_view>

namespace martello::internal {

struct NpyHeader {
  DType dtype = f32;
  Shape shape = {};
  size_t data_begin = 0;  // bytes in front of the data
};
// Of the first bytes of an .npy file. Refuses, with a text that names no file, what is no header or none of ours.
NpyHeader parse_npy_header(std::string_view bytes);

}  // namespace martello::internal
