#include <martello/base/error.h>
#include <martello/data/rng.h>

#include <cmath>
#include <numbers>

namespace martello {
namespace {

uint32_t low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t high(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

}  // namespace

uint64_t Rng::bits() {
  if (drawn_ % 2 == 0)
    block_ = Philox::block({low(drawn_ / 2), high(drawn_ / 2), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
  const size_t half = drawn_++ % 2 * 2;
  return (uint64_t{block_[half + 1]} << 32) | block_[half];
}

double Rng::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

int64_t Rng::below(int64_t n) {
  MARTELLO_CHECK(n > 0, "[rng] below(", n, "): the bound must be positive.");
  // The last, incomplete stretch of n numbers would make small results more likely.
  const auto bound = static_cast<uint64_t>(n);
  const uint64_t unfair = (0 - bound) % bound;
  uint64_t drawn = bits();
  while (drawn < unfair) drawn = bits();
  return static_cast<int64_t>(drawn % bound);
}

double Rng::normal() {
  const double u = 1 - uniform(), v = uniform();  // u is not 0
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace martello
