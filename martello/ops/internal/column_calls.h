#pragma once
#include <martello/base/checked.h>

namespace martello::internal {

// How many neighbouring columns of [outer, size, inner] one call of a column loop takes: `most`, as long stretches of
// rows read fastest, unless threads would have too few calls.
inline int64_t columns_per_call(int64_t outer, int64_t inner, int64_t most) {
  constexpr int64_t kFewColumns = 64, kEnoughCalls = 8;
  return outer * ceil_div(inner, most) >= kEnoughCalls ? most : kFewColumns;
}

}  // namespace martello::internal
