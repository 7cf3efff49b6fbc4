#include <martello/base/checked.h>
#include <martello/base/error.h>

#include <algorithm>

namespace martello {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    throw SizeOverflow(str("[size] ", a, " + ", b, " does not fit into 64 bits."));
  return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    throw SizeOverflow(str("[size] ", a, " * ", b, " does not fit into 64 bits."));
  return product;
}

int64_t checked_product(std::span<const int64_t> sizes) {
  for (int64_t size : sizes) MARTELLO_CHECK(size >= 0, "[size] ", size, " is negative; a size is 0 or more.");
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  int64_t product = 1;
  for (int64_t size : sizes) product = checked_mul(product, size);
  return product;
}

int64_t ceil_div(int64_t a, int64_t b) {
  MARTELLO_CHECK(b > 0, "[size] ", a, " divided by ", b, ": the divisor must be positive.");
  return a / b + (a % b > 0);
}

int64_t align_up(int64_t value, int64_t alignment) { return checked_mul(ceil_div(value, alignment), alignment); }

}  // namespace martello
