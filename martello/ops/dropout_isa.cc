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

// Philox4x32-10 of a register of counters.
void philox(U32 (&c)[4], uint32_t key0, uint32_t key1) {
  const U32 factor0 = splat(0xD2511F53u), factor2 = splat(0xCD9E8D57u);
  for (int round = 0; round < 10; ++round) {
    const Product p0 = multiply(c[0], factor0), p2 = multiply(c[2], factor2);
    c[0] = p2.high ^ c[1] ^ splat(key0);
    c[1] = p2.low;
    c[2] = p0.high ^ c[3] ^ splat(key1);
    c[3] = p0.low;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

// The words of one group, in the order of its elements.
void make_words(const RandomTask& t, int64_t row, int64_t group, uint32_t* words) {
  const uint64_t sample = static_cast<uint64_t>(t.first_sample + row);
  U32 lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = static_cast<uint32_t>(i);
  for (int part = 0; part < kParts; ++part) {
    const uint32_t first = static_cast<uint32_t>(group * kDropoutBlocks + part * kLanes);
    U32 c[4] = {lane + first, splat(static_cast<uint32_t>(sample)), splat(t.run),
                splat(t.top ^ static_cast<uint32_t>(sample >> 32 & 0xffff))};
    philox(c, t.key[0], t.key[1]);
    for (int l = 0; l < 4; ++l) memcpy(words + l * kDropoutBlocks + part * kLanes, &c[l], sizeof c[l]);
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
  alignas(64) uint32_t words[kDropoutGroup];
  for (int64_t i = 0; i < t.random.blocks; ++i) {
    make_words(t.random, row, group, words);
    const int64_t at = row * n + group * kDropoutGroup, left = n - group * kDropoutGroup;
    if (left >= kDropoutGroup) drop(words, t.limit, t.scale, t.x + at, t.y + at, kDropoutGroup);
    else drop(words, t.limit, t.scale, t.x + at, t.y + at, left);
    if (++group == row_groups) ++row, group = 0;
  }
}

}  // namespace

extern const DropoutLoops dropout_loops = {run<float>, run<double>};

}  // namespace martello::cpu::MARTELLO_ISA
