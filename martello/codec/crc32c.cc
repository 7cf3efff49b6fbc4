#include <martello/codec/crc32c.h>

#include <nmmintrin.h>

#include <cstring>

namespace martello {

// SSE 4.2 is part of x86-64-v2, the least that Martello runs on.
__attribute__((target("sse4.2"))) uint32_t crc32c(std::string_view bytes, uint32_t crc) {
  uint64_t sum = ~crc;
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = _mm_crc32_u64(sum, word);
    bytes.remove_prefix(sizeof word);
  }
  auto rest = static_cast<uint32_t>(sum);
  for (char c : bytes) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  return ~rest;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace martello
