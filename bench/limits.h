#pragma once
#include <martello/tensor/host_tensor.h>

#include <functional>
#include <string>

namespace bench {

// Work that no implementation of a row can beat, or that the kernel library does when called directly:
//   copy    a parallel memcpy of as many bytes as the row reads and writes
//   read    a parallel sum over the bytes of its inputs
//   onednn  the matmul of its two inputs by oneDNN
std::function<void()> make_limit(const std::string& kind, const martello::HostTensors& inputs,
                                 const martello::HostTensor& output, int threads);
std::function<void()> make_onednn_matmul(const martello::HostTensor& a, const martello::HostTensor& b, int threads);

}  // namespace bench
