#pragma once
#include <martello/base/error.h>

#include <cstdint>
#include <span>

// The only place where sizes are added and multiplied without a second thought: every function throws SizeOverflow with
// both operands when the result does not fit.
namespace martello {

// An InvalidArgument that knows only numbers: whoever knows the node says which.
class SizeOverflow : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};

int64_t checked_add(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);
// Product of non-negative sizes; 1 for none. A zero anywhere gives 0, whatever the rest.
int64_t checked_product(std::span<const int64_t> sizes);
int64_t ceil_div(int64_t a, int64_t b);
int64_t align_up(int64_t value, int64_t alignment);

}  // namespace martello
