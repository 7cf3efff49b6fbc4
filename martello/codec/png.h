#pragma once
#include <martello/tensor/host_tensor.h>

#include <string>

namespace martello {

// The PNG file of a u8 image [H, W, C]: grey (C = 1), RGB (3) or RGBA (4).
std::string encode_png(const HostTensor& image);

}  // namespace martello
