#include <martello/kernel/cpu/vecmath_log_isa.h>
#include <martello/kernel/cpu/vecmath_trig_isa.h>
#include <martello/ops/internal/random_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

constexpr int kTile = 64;  // blocks made at a time; the compiler cuts the loops over them into vectors

struct Words {
  alignas(64) uint32_t w[4][kTile];
};

// Philox4x32-10 of kTile counters.
void philox(Words& c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kTile; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c.w[0][i], p1 = uint64_t{0xCD9E8D57u} * c.w[2][i];
      const uint32_t x0 = static_cast<uint32_t>(p1 >> 32) ^ c.w[1][i] ^ key0;
      const uint32_t x2 = static_cast<uint32_t>(p0 >> 32) ^ c.w[3][i] ^ key1;
      c.w[0][i] = x0;
      c.w[1][i] = static_cast<uint32_t>(p1);
      c.w[2][i] = x2;
      c.w[3][i] = static_cast<uint32_t>(p0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

// Where a block stands: its row and its place in the row.
struct Place {
  int64_t row, block;
};

// Words of the tile that starts at `at`, which moves on.
void make_words(const RandomTask& t, int64_t row_blocks, Place at, Words& words) {
  for (int i = 0; i < kTile; ++i) {
    const uint64_t sample = static_cast<uint64_t>(t.first_sample + at.row);
    words.w[0][i] = static_cast<uint32_t>(at.block);
    words.w[1][i] = static_cast<uint32_t>(sample);
    words.w[2][i] = t.run;
    words.w[3][i] = t.top ^ static_cast<uint32_t>(sample >> 32 & 0xffff);
    if (++at.block == row_blocks) at = {at.row + 1, 0};
  }
  philox(words, t.key[0], t.key[1]);
}

// Calls make(words, values) for each tile and puts values[l][i], element l of block i, where it belongs.
template <int PerBlock, class T, class Make>
void for_tiles(const RandomTask& t, T* y, Make make) {
  const int64_t n = t.row_elements, row_blocks = (n + PerBlock - 1) / PerBlock;
  Words words;
  alignas(64) T values[PerBlock][kTile];
  for (int64_t first = 0; first < t.blocks; first += kTile) {
    const int64_t block = t.first_block + first, left = t.blocks - first;
    const int count = left < kTile ? static_cast<int>(left) : kTile;
    Place at{block / row_blocks, block % row_blocks};
    make_words(t, row_blocks, at, words);
    make(words, values);
    if (n % PerBlock == 0) {
      T* to = y + block * PerBlock;
      for (int i = 0; i < count; ++i)
        for (int l = 0; l < PerBlock; ++l) to[i * PerBlock + l] = values[l][i];
      continue;
    }
    for (int i = 0; i < count; ++i) {
      for (int64_t l = 0; l < PerBlock && at.block * PerBlock + l < n; ++l)
        y[at.row * n + at.block * PerBlock + l] = values[l][i];
      if (++at.block == row_blocks) at = {at.row + 1, 0};
    }
  }
}

// Numbers in [0, 1) of element l of each block, or in (0, 1) when `open`: half a step higher.
void units(const Words& words, int l, bool open, float* u) {
  const float half = open ? 0x1p-25f : 0;
  for (int i = 0; i < kTile; ++i) u[i] = static_cast<float>(static_cast<int32_t>(words.w[l][i] >> 8)) * 0x1p-24f + half;
}
void units(const Words& words, int l, bool open, double* u) {
  const uint32_t *high = words.w[2 * l], *low = words.w[2 * l + 1];
  // 26 and 26 bits: each part is exact as a signed number, which every level converts.
  const double half = open ? 0x1p-53 : 0;
  for (int i = 0; i < kTile; ++i)
    u[i] = static_cast<double>(static_cast<int32_t>(high[i] >> 6)) * 0x1p-26 +
           static_cast<double>(static_cast<int32_t>(low[i] >> 6)) * 0x1p-52 + half;
}

template <class T>
constexpr int kPerBlock = sizeof(T) == 4 ? 4 : 2;

template <class T>
void uniform(const RandomTask& t, T* y) {
  const T low = static_cast<T>(t.p0), range = static_cast<T>(t.p1), highest = static_cast<T>(t.p2);
  for_tiles<kPerBlock<T>>(t, y, [=](const Words& words, auto& values) {
    for (int l = 0; l < kPerBlock<T>; ++l) {
      T* v = values[l];
      units(words, l, false, v);
      for (int i = 0; i < kTile; ++i) {
        const T x = low + v[i] * range;
        v[i] = x < highest ? x : highest;  // rounding may reach the excluded end
      }
    }
  });
}

// Box and Muller: from u, v in (0, 1) two independent normal numbers sqrt(-2 log u) (cos, sin)(2 pi v). Puts them in
// place of u and v.
template <class T>
void box_muller(T* u, T* v, T mean, T stddev) {
  using V = Vec<T>;
  for (int i = 0; i < kTile; i += V::kLanes) {
    const V radius = sqrt(V(-2) * log(V::load(u + i)));
    const V turns = V::load(v + i) * V(4), k = round(turns), angle = (turns - k) * V(0x1.921fb54442d18p+0);
    const auto quadrant = (k + V(TrigConstants<T>::kMagic)).bits();
    fma(radius * sin_of_quadrant(angle, quadrant + 1), V(stddev), V(mean)).store(u + i);
    fma(radius * sin_of_quadrant(angle, quadrant), V(stddev), V(mean)).store(v + i);
  }
}

template <class T>
void normal(const RandomTask& t, T* y) {
  const T mean = static_cast<T>(t.p0), stddev = static_cast<T>(t.p1);
  for_tiles<kPerBlock<T>>(t, y, [=](const Words& words, auto& values) {
    for (int l = 0; l < kPerBlock<T>; l += 2) {
      units(words, l, true, values[l]);
      units(words, l + 1, false, values[l + 1]);
      box_muller(values[l], values[l + 1], mean, stddev);
    }
  });
}

// The inverse of the normal distribution function, at (1 + t) / 2 for |t| <= erf(sqrt(2)): t P(w), w = -log(1 - t^2), P
// a Chebyshev fit around w = 1.25 with a relative error of 2e-9 and 1e-17.
constexpr float kProbit32[] = {0x1.aeaad4p+0f,  0x1.6957d2p-2f, 0x1.d197a8p-9f,   -0x1.a1c746p-9f,
                               0x1.a8ee06p-13f, 0x1.729dap-15f, -0x1.bd574cp-18f, -0x1.0bebd4p-21f};
constexpr double kProbit64[] = {
    0x1.aeaad3c10ba6bp+0,  0x1.6957d0994ea7ep-2,   0x1.d193551374a34p-9,   -0x1.a1c4db20a9bd6p-9,
    0x1.a9dd3e6cf0710p-13, 0x1.719c798e4aff3p-15,  -0x1.ded256297577fp-18, -0x1.daae932ab1fcdp-22,
    0x1.836de6d4ca0a3p-23, -0x1.e37dcfaaa6d34p-30, -0x1.0874d98b60c7ap-28, 0x1.2dfe2cdec0313p-32,
    0x1.30139d304266ep-34, -0x1.690eb4e69ea61p-37, -0x1.ffb5ad7e8c30ep-41, 0x1.192433dc06cf0p-42};
inline Vec<float> probit_ratio(Vec<float> w) { return polynomial(w - Vec<float>(1.25), kProbit32); }
inline Vec<double> probit_ratio(Vec<double> w) { return polynomial(w - Vec<double>(1.25), kProbit64); }

template <class T>
void truncated(const RandomTask& t, T* y) {
  using V = Vec<T>;
  const T mean = static_cast<T>(t.p0), stddev = static_cast<T>(t.p1);
  for_tiles<kPerBlock<T>>(t, y, [=](const Words& words, auto& values) {
    const V two(2), one(1), reach(0x1.e8b4307d3627ap-1);  // erf(sqrt(2))
    for (int l = 0; l < kPerBlock<T>; ++l) {
      T* v = values[l];
      units(words, l, true, v);
      for (int i = 0; i < kTile; i += V::kLanes) {
        const V x = fma(V::load(v + i), two, -one) * reach;
        const V z = x * probit_ratio(-log(fma(-x, x, one)));
        fma(max(-two, min(two, z)), V(stddev), V(mean)).store(v + i);
      }
    }
  });
}

void bernoulli(const RandomTask& t, uint8_t* y) {
  const uint32_t limit = static_cast<uint32_t>(t.p0);
  for_tiles<4>(t, y, [=](const Words& words, auto& values) {
    for (int l = 0; l < 4; ++l)
      for (int i = 0; i < kTile; ++i) values[l][i] = (words.w[l][i] >> 1) < limit;
  });
}

void bits(const RandomTask& t, uint64_t* y) {
  for_tiles<2>(t, y, [](const Words& words, auto& values) {
    for (int l = 0; l < 2; ++l)
      for (int i = 0; i < kTile; ++i) values[l][i] = uint64_t{words.w[2 * l][i]} << 32 | words.w[2 * l + 1][i];
  });
}

}  // namespace

extern const RandomLoops random_loops = {uniform<float>,   uniform<double>,   normal<float>, normal<double>,
                                         truncated<float>, truncated<double>, bernoulli,     bits};

}  // namespace martello::cpu::MARTELLO_ISA
