#pragma once
#include <martello/tensor/host_tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace martello {

using NamedTensors = std::vector<std::pair<std::string, HostTensor>>;

// The bytes of an .npz file, which numpy.load reads: a zip archive, not compressed, with one .npy file per tensor.
// NumPy has no bf16; such tensors are written as f32, which holds every value. Names are unique and not empty.
std::string encode_npz(const NamedTensors& tensors);

}  // namespace martello
