#pragma once
#include <martello/ops/pool.h>

namespace martello::internal {

struct PoolAxes {
  WindowAxis h, w;
};
// Windows over images of these sizes, which may be unknown. Throws for attributes that make no sense.
PoolAxes pool_axes(const std::string& where, const PoolAttrs& a, int64_t height, int64_t width);
// Dimension of the height; the width follows.
inline int height_axis(DataFormat format) { return format == DataFormat::nhwc ? 1 : 2; }

}  // namespace martello::internal
