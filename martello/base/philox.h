#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace martello {

// Philox4x32-10: a keyed bijection of 128-bit counters. Random numbers are a function of (key, counter), never of
// order or thread.
struct Philox {
  using Counter = std::array<uint32_t, 4>;
  using Key = std::array<uint32_t, 2>;

  static constexpr Counter block(Counter c, Key k) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p0)};
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    return c;
  }
};

// [0, 1) with 24 and 53 bits.
constexpr float uniform_f32(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
constexpr double uniform_f64(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

// Stable 64-bit hash of text (FNV-1a with a finalizer): the same on every machine and build.
uint64_t stable_hash(std::string_view text, uint64_t seed = 0);

}  // namespace martello
