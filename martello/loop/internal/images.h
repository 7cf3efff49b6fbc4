#pragma once
#include <martello/tensor/host_tensor.h>

#include <string_view>

namespace martello::internal {

// u8[N, H, W, C] of [H, W], [H, W, C], [N, H, W] or [N, H, W, C] with C of 1, 3 or 4. Values are rounded and clipped to
// 0 ... 255; NaN is 0.
HostTensor as_images(std::string_view name, const HostTensor& image);

}  // namespace martello::internal
