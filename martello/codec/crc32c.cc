#include <martello/codec/crc32c.h>

#include <nmmintrin.h>

#include <array>
#include <cstring>

namespace martello {
namespace {

// The instruction gives a result after three cycles and can start in each: three stretches of bytes are summed side by
// side. What a sum becomes when kStretch more bytes follow is linear in its bits, so tables by byte tell it.
constexpr size_t kWord = sizeof(uint64_t), kStretch = 4096;

uint64_t word_at(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, kWord);
  return word;
}

struct Shift {
  std::array<std::array<uint32_t, 256>, 4> tables = {};

  __attribute__((target("sse4.2"))) Shift() {
    std::array<uint32_t, 32> of_bit;
    for (uint32_t i = 0; i < 32; ++i) {
      uint64_t sum = uint64_t{1} << i;
      for (size_t k = 0; k < kStretch; k += kWord) sum = _mm_crc32_u64(sum, 0);
      of_bit[i] = static_cast<uint32_t>(sum);
    }
    for (uint32_t byte = 0; byte < 4; ++byte)
      for (uint32_t value = 0; value < 256; ++value)
        for (uint32_t bit = 0; bit < 8; ++bit)
          if ((value >> bit & 1) != 0) tables[byte][value] ^= of_bit[8 * byte + bit];
  }
  uint32_t operator()(uint32_t sum) const {
    return tables[0][sum & 255] ^ tables[1][sum >> 8 & 255] ^ tables[2][sum >> 16 & 255] ^ tables[3][sum >> 24];
  }
};

__attribute__((target("sse4.2"))) uint64_t sum_of_three(uint64_t sum, const char* bytes) {
  static const Shift shift;
  uint64_t second = 0, third = 0;
  for (size_t i = 0; i < kStretch; i += kWord) {
    sum = _mm_crc32_u64(sum, word_at(bytes + i));
    second = _mm_crc32_u64(second, word_at(bytes + kStretch + i));
    third = _mm_crc32_u64(third, word_at(bytes + 2 * kStretch + i));
  }
  const uint32_t two = shift(static_cast<uint32_t>(sum)) ^ static_cast<uint32_t>(second);
  return shift(two) ^ static_cast<uint32_t>(third);
}

}  // namespace

// SSE 4.2 is part of x86-64-v2, the least that Martello runs on.
__attribute__((target("sse4.2"))) uint32_t crc32c(std::string_view bytes, uint32_t crc) {
  uint64_t sum = ~crc;
  for (; bytes.size() >= 3 * kStretch; bytes.remove_prefix(3 * kStretch)) sum = sum_of_three(sum, bytes.data());
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord)) sum = _mm_crc32_u64(sum, word_at(bytes.data()));
  auto rest = static_cast<uint32_t>(sum);
  for (char c : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  return ~rest;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace martello
