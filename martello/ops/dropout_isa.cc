#include <martello/kernel/cpu/vec_isa.h>
#include <martello/ops/internal/dropout_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

using U32 = VecTypes<float>::Unsigned;
using U64 = VecTypes<double>::Unsigned;
typedef long long Register __attribute__((vector_size(MARTELLO_VEC_BYTES)));

constexpr int kLanes = kVecBytes / 4, kParts = static_cast<int>(kDropoutBlocks) / kLanes;

U32 splat(uint32_t value) { return value - U32{}; }

struct Product {
  U32 low, high;
};
Product multiply(U32 x, U32 factor) {
  const Register f = reinterpret_cast<Register>(factor);
  const Register even = MARTELLO_MM(mul_epu32)(reinterpret_cast<Register>(x), f);
  const Register odd = MARTELLO_MM(mul_epu32)(reinterpret_cast<Register>(U64(x) >> 32), f);
#if MARTELLO_VEC_BYTES == 64
  // Upper halves of the even products to the even lanes, lower halves of the odd ones to the odd lanes.
  constexpr auto upper = _MM_PERM_DDBB, lower = _MM_PERM_CCAA;
  return {reinterpret_cast<U32>(_mm512_mask_shuffle_epi32(even, 0xAAAA, odd, lower)),
          reinterpret_cast<U32>(_mm512_mask_shuffle_epi32(odd, 0x5555, even, upper))};
#else
  constexpr uint64_t lower = 0xffffffff;
  return {U32((U64(even) & lower) | (U64(odd) << 32)), U32((U64(even) >> 32) | (U64(odd) & ~lower))};
#endif
}

// Philox4x32-10 of G registers of counters: each step waits for the one before, not for those of other registers.
template <int G>
void philox(U32 (&c)[G][4], uint32_t key0, uint32_t key1) {
  const U32 factor0 = splat(0xD2511F53u), factor2 = splat(0xCD9E8D57u);
  for (int round = 0; round < 10; ++round) {
    for (U32(&x)[4] : c) {
      const Product p0 = multiply(x[0], factor0), p2 = multiply(x[2], factor2);
      x[0] = p2.high ^ x[1] ^ splat(key0);
      x[1] = p2.low;
      x[2] = p0.high ^ x[3] ^ splat(key1);
      x[3] = p0.low;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

// The words of G groups, in the order of their elements.
template <int G>
void make_words(const RandomTask& t, int64_t row, int64_t group, uint32_t* words) {
  const uint64_t sample = static_cast<uint64_t>(t.first_sample + row);
  const uint32_t top = t.top ^ static_cast<uint32_t>(sample >> 32 & 0xffff);
  U32 lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = static_cast<uint32_t>(i);
  for (int part = 0; part < kParts; ++part) {
    U32 c[G][4];
    for (int g = 0; g < G; ++g) {
      c[g][0] = lane + static_cast<uint32_t>((group + g) * kDropoutBlocks + part * kLanes);
      c[g][1] = splat(static_cast<uint32_t>(sample));
      c[g][2] = splat(t.run);
      c[g][3] = splat(top);
    }
    philox(c, t.key[0], t.key[1]);
    for (int g = 0; g < G; ++g)
      for (int l = 0; l < 4; ++l)
        memcpy(words + g * kDropoutGroup + l * kDropoutBlocks + part * kLanes, &c[g][l], sizeof c[g][l]);
  }
}

template <class T>
void drop(const uint32_t* words, uint32_t limit, T scale, const T* x, T* y, int64_t n) {
  const int32_t least = static_cast<int32_t>(limit);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int32_t>(words[i] >> 1) < least ? T{0} : x[i] * scale;
}

template <class T>
void run(const DropoutTask<T>& t) {
  const int64_t n = t.random.row_elements, row_groups = (n + kDropoutGroup - 1) / kDropoutGroup;
  int64_t row = t.random.first_block / row_groups, group = t.random.first_block % row_groups;
  alignas(64) uint32_t words[2 * kDropoutGroup];
  for (int64_t i = 0, count; i < t.random.blocks; i += count) {
    count = i + 2 <= t.random.blocks && group + 2 <= row_groups ? 2 : 1;
    (count == 2 ? make_words<2> : make_words<1>)(t.random, row, group, words);
    const int64_t at = row * n + group * kDropoutGroup, left = n - group * kDropoutGroup;
    if (left >= 2 * kDropoutGroup && count == 2) drop(words, t.limit, t.scale, t.x + at, t.y + at, 2 * kDropoutGroup);
    else drop(words, t.limit, t.scale, t.x + at, t.y + at, left < count * kDropoutGroup ? left : count * kDropoutGroup);
    group += count;
    if (group == row_groups) ++row, group = 0;
  }
}

}  // namespace

extern const DropoutLoops dropout_loops = {run<float>, run<double>};

}  // namespace martello::cpu::MARTELLO_ISA
