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

// The tensors of an .npz file that numpy.savez or savez_compressed wrote, in its order. Nothing in it is believed: what
// is no such archive, was cut, has a wrong checksum, a name twice (`w` is that of `w.npy` too), bytes that two arrays
// share, pickled objects, another byte order or a dtype that is none of ours is refused with the reason
// (InvalidArgument), and so is what would take more memory than 64 MiB beyond its own size. NotFound when there is no
// file.
NamedTensors read_npz(const std::string& path);

}  // namespace martello
