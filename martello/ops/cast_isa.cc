#include <martello/kernel/cpu/bf16_isa.h>
#include <martello/ops/internal/cast_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

void narrow(const float* x, uint16_t* y, int64_t count) {
  constexpr int64_t w = Vec<float>::kLanes;
  int64_t i = 0;
  for (; i + w <= count; i += w) store_bf16(y + i, to_bf16(Vec<float>::load(x + i)));
  if (i < count) store_bf16(y + i, count - i, to_bf16(load_first(x + i, count - i, Vec<float>(0))));
}

// A plain loop, which compilers turn into vector code at every level.
void widen(const uint16_t* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(x[i]) << 16;
    memcpy(y + i, &bits, sizeof(bits));
  }
}

}  // namespace

extern const CastLoops bf16_loops = {narrow, widen};

}  // namespace martello::cpu::MARTELLO_ISA
