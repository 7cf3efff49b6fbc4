#include <martello/kernel/cpu/vec_isa.h>
#include <martello/ops/internal/cast_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

uint32_t bf16_bits(uint32_t x) {
  const uint32_t rounded = (x + 0x7fff + ((x >> 16) & 1)) >> 16, quiet = (x >> 16) | 0x40;
  return (x & 0x7fffffff) > 0x7f800000 ? quiet : rounded;
}

// Plain loops, which compilers turn into vector code at every level.
void narrow(const float* x, uint16_t* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof(bits));
    y[i] = static_cast<uint16_t>(bf16_bits(bits));
  }
}

void widen(const uint16_t* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(x[i]) << 16;
    memcpy(y + i, &bits, sizeof(bits));
  }
}

}  // namespace

extern const CastLoops bf16_loops = {narrow, widen};

}  // namespace martello::cpu::MARTELLO_ISA
