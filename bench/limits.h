#pragma once
#include "row.h"

#include <functional>
#include <string>

namespace bench {

// Work that no implementation of a row can beat, or that the kernel library does when called directly:
//   copy    a parallel memcpy of as many bytes as the row reads and writes
//   read    a parallel sum over the bytes of its inputs
//   onednn  the matmul of its two inputs, or its convolution (NHWC, same padding), by oneDNN
std::function<void()> make_copy(int64_t bytes, int threads);
std::function<void()> make_read(const martello::HostTensors& inputs, int threads);
std::function<void()> make_limit(const Row& row, const martello::HostTensors& inputs,
                                 const martello::HostTensor& output, int threads);
std::function<void()> make_onednn_matmul(const Row& row, const martello::HostTensors& inputs, int threads);
// Weights lie as the library likes best and are never copied.
std::function<void()> make_onednn_conv(const Row& row, const martello::HostTensors& inputs,
                                       const martello::HostTensor& output, int threads);

}  // namespace bench
