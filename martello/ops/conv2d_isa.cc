#include <martello/ops/internal/best_lanes_isa.h>
#include <martello/ops/internal/winograd_loops.h>

// Note [Winograd]: y = A^T [(G w G^T) * (B^T x B)] A over the points 0, a, -a, b, -b and infinity, where * multiplies
// the 36 numbers one by one and sums over channels. The gradient of w is G^T [(A dy A^T) * (B^T x B)] G. Points near 1
// keep the powers in A and B small and hence the rounding errors; these two were the best of those tried.
namespace martello::cpu::MARTELLO_ISA {
namespace {

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;
constexpr double kA = 0.625, kB = 1.5;
constexpr double kA2 = kA * kA, kB2 = kB * kB, kAt0 = 1 / (kA2 * kB2), kAtA = 1 / (2 * kA2 * (kA2 - kB2)),
                 kAtB = 1 / (2 * kB2 * (kB2 - kA2));

inline V times(double factor, V x) { return V(factor) * x; }
inline V plus(V sum, double factor, V x) { return fma(V(factor), x, sum); }

// B^T
struct SplitData {
  static constexpr int kIn = 6, kOut = 6;
  static void apply(const V* x, V* r) {
    r[0] = plus(plus(x[4], -(kA2 + kB2), x[2]), kA2 * kB2, x[0]);
    r[5] = plus(plus(x[5], -(kA2 + kB2), x[3]), kA2 * kB2, x[1]);
    const V even_a = plus(x[4], -kB2, x[2]), odd_a = plus(x[3], -kB2, x[1]);
    const V even_b = plus(x[4], -kA2, x[2]), odd_b = plus(x[3], -kA2, x[1]);
    r[1] = plus(even_a, kA, odd_a);
    r[2] = plus(even_a, -kA, odd_a);
    r[3] = plus(even_b, kB, odd_b);
    r[4] = plus(even_b, -kB, odd_b);
  }
};

// A
struct SpreadGradient {
  static constexpr int kIn = 4, kOut = 6;
  static void apply(const V* y, V* r) {
    const V even_a = plus(y[0], kA2, y[2]), odd_a = plus(y[1], kA2, y[3]);
    const V even_b = plus(y[0], kB2, y[2]), odd_b = plus(y[1], kB2, y[3]);
    r[0] = y[0];
    r[1] = plus(even_a, kA, odd_a);
    r[2] = plus(even_a, -kA, odd_a);
    r[3] = plus(even_b, kB, odd_b);
    r[4] = plus(even_b, -kB, odd_b);
    r[5] = y[3];
  }
};

// A^T
struct JoinResult {
  static constexpr int kIn = 6, kOut = 4;
  static void apply(const V* m, V* r) {
    const V even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
    r[0] = (m[0] + even_a) + even_b;
    r[1] = plus(times(kA, odd_a), kB, odd_b);
    r[2] = plus(times(kA2, even_a), kB2, even_b);
    r[3] = plus(plus(m[5], kA * kA2, odd_a), kB * kB2, odd_b);
  }
};

// G
struct SplitKernel {
  static constexpr int kIn = 3, kOut = 6;
  static void apply(const V* w, V* r) {
    const V even_a = times(kAtA, plus(w[0], kA2, w[2])), even_b = times(kAtB, plus(w[0], kB2, w[2]));
    r[0] = times(kAt0, w[0]);
    r[1] = plus(even_a, kA * kAtA, w[1]);
    r[2] = plus(even_a, -kA * kAtA, w[1]);
    r[3] = plus(even_b, kB * kAtB, w[1]);
    r[4] = plus(even_b, -kB * kAtB, w[1]);
    r[5] = w[2];
  }
};

// G^T
struct JoinKernel {
  static constexpr int kIn = 6, kOut = 3;
  static void apply(const V* u, V* r) {
    const V even_a = times(kAtA, u[1] + u[2]), odd_a = times(kA * kAtA, u[1] - u[2]);
    const V even_b = times(kAtB, u[3] + u[4]), odd_b = times(kB * kAtB, u[3] - u[4]);
    r[0] = plus(even_a + even_b, kAt0, u[0]);
    r[1] = odd_a + odd_b;
    r[2] = plus(plus(u[5], kA2, even_a), kB2, even_b);
  }
};

#if defined(__clang__)
#define MARTELLO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MARTELLO_UNROLL _Pragma("GCC unroll 6")
#endif

// M x M^T; load(i, j) gives x, store(i, j, value) takes the result.
template <class M, class Load, class Store>
inline void transform(Load load, Store store) {
  V columns[M::kOut][M::kIn];
  MARTELLO_UNROLL
  for (int j = 0; j < M::kIn; ++j) {
    V x[M::kIn], r[M::kOut];
    MARTELLO_UNROLL
    for (int i = 0; i < M::kIn; ++i) x[i] = load(i, j);
    M::apply(x, r);
    MARTELLO_UNROLL
    for (int i = 0; i < M::kOut; ++i) columns[i][j] = r[i];
  }
  MARTELLO_UNROLL
  for (int i = 0; i < M::kOut; ++i) {
    V r[M::kOut];
    M::apply(columns[i], r);
    MARTELLO_UNROLL
    for (int j = 0; j < M::kOut; ++j) store(i, j, r[j]);
  }
}

// Calls f(first, lanes) for `count` neighbours, a vector at a time. The lanes of all but the last are a constant.
struct Whole {};
struct Part {
  int64_t lanes;
};
template <class F>
inline void for_vectors(int64_t count, F f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(i, Whole{});
  if (i < count) f(i, Part{count - i});
}
inline V load(const float* p, Whole) { return V::load(p); }
inline V load(const float* p, Part part) { return load_first(p, part.lanes, V(0)); }
inline void store(float* p, V x, Whole) { x.store(p); }
inline void store(float* p, V x, Part part) { store_first(p, part.lanes, x); }

struct TilePlace {
  int64_t image, row, column;  // of its first pixel, which may lie outside
  TilePlace(const WinogradImages& s, int64_t tile)
      : image(tile / (s.tile_rows * s.tile_columns)),
        row(tile / s.tile_columns % s.tile_rows * kWinogradTile - s.top),
        column(tile % s.tile_columns * kWinogradTile - s.left) {}

  // To the tile that comes next: the divisions take as long as half of a narrow tile.
  void advance(const WinogradImages& s) {
    column += kWinogradTile;
    if (column + s.left < s.tile_columns * kWinogradTile) return;
    column = -s.left;
    row += kWinogradTile;
    if (row + s.top < s.tile_rows * kWinogradTile) return;
    row = -s.top;
    ++image;
  }
};

inline bool is_within(int64_t i, int64_t size) { return static_cast<uint64_t>(i) < static_cast<uint64_t>(size); }

template <class M>
void pixels_to_points(const WinogradImages& s, const float* x, const WinogradTiles& tiles) {
  constexpr int kSize = M::kIn;
  const int64_t line = s.width * s.channels;
  TilePlace at(s, tiles.first);
  float* out = tiles.planes;
  // pixel(i, j) is an address.
  const auto split = [&](auto pixel) {
    for_vectors(s.channels, [&](int64_t c, auto lanes) {
      transform<M>([&](int i, int j) { return load(pixel(i, j) + c, lanes); },
                   [&](int i, int j, V v) { store(out + (i * 6 + j) * tiles.plane + c, v, lanes); });
    });
  };
  for (int64_t t = tiles.first; t < tiles.last; ++t, at.advance(s), out += s.channels) {
    const int64_t first = ((at.image * s.height + at.row) * s.width + at.column) * s.channels;
    if (at.row >= 0 && at.column >= 0 && at.row + kSize <= s.height && at.column + kSize <= s.width) {
      split([&](int i, int j) { return x + (first + i * line + j * s.channels); });
      continue;
    }
    const float* pixels[kSize][kSize];
    MARTELLO_UNROLL
    for (int i = 0; i < kSize; ++i) {
      const bool is_row = is_within(at.row + i, s.height);
      MARTELLO_UNROLL
      for (int j = 0; j < kSize; ++j)
        pixels[i][j] = is_row && is_within(at.column + j, s.width) ? x + (first + i * line + j * s.channels) : s.zeros;
    }
    split([&](int i, int j) { return pixels[i][j]; });
  }
}

template <bool adds>
void join_tiles(const WinogradImages& s, const WinogradTiles& tiles, const float* bias, const float* addend, bool relu,
                float* y) {
  const int64_t line = s.width * s.channels;
  TilePlace at(s, tiles.first);
  for (int64_t t = tiles.first; t < tiles.last; ++t, at.advance(s)) {
    const int64_t rows = s.height - at.row, columns = s.width - at.column;
    const float* in = tiles.planes + (t - tiles.first) * s.channels;
    const int64_t first = ((at.image * s.height + at.row) * s.width + at.column) * s.channels;
    float* out = y + first;
    const float* added = adds ? addend + first : nullptr;
    const auto join = [&](auto is_inside) {
      for_vectors(s.channels, [&](int64_t c, auto lanes) {
        const V shift = bias ? load(bias + c, lanes) : V(0);
        transform<JoinResult>([&](int i, int j) { return load(in + (i * 6 + j) * tiles.plane + c, lanes); },
                              [&](int i, int j, V v) {
                                if (!is_inside(i, j)) return;
                                const int64_t pixel = i * line + j * s.channels + c;
                                if (bias) v = v + shift;
                                if (adds) v = v + load(added + pixel, lanes);
                                if (relu) v = max(v, V(0));
                                store(out + pixel, v, lanes);
                              });
      });
    };
    if (rows >= kWinogradTile && columns >= kWinogradTile) join([](int, int) { return true; });
    else join([&](int i, int j) { return i < rows && j < columns; });
  }
}
void points_to_pixels(const WinogradImages& s, const WinogradTiles& tiles, const float* bias, const float* addend,
                      bool relu, float* y) {
  (addend ? join_tiles<true> : join_tiles<false>)(s, tiles, bias, addend, relu, y);
}

// In the order in which max_pool looks at the pixels of a window. A finite bias and ReLU keep the order of numbers, so
// only the largest get them.
void points_to_largest(const WinogradImages& s, const WinogradTiles& tiles, const float* bias, bool relu, float* y) {
  const int64_t height = s.height / 2, width = s.width / 2;
  TilePlace at(s, tiles.first);
  for (int64_t t = tiles.first; t < tiles.last; ++t, at.advance(s)) {
    const int64_t row = at.row / 2, column = at.column / 2, rows = height - row, columns = width - column;
    const float* in = tiles.planes + (t - tiles.first) * s.channels;
    float* out = y + ((at.image * height + row) * width + column) * s.channels;
    for_vectors(s.channels, [&](int64_t c, auto lanes) {
      const V shift = bias ? load(bias + c, lanes) : V(0);
      BestLanes<float, Largest<float>> best[2][2];
      transform<JoinResult>([&](int i, int j) { return load(in + (i * 6 + j) * tiles.plane + c, lanes); },
                            [&](int i, int j, V v) {
                              auto& window = best[i / 2][j / 2];
                              if (i % 2 == 0 && j % 2 == 0) window = {v, same_bits<float>(0)};
                              else window.meet(v, same_bits<float>(0));  // nobody asks where
                            });
      for (int i = 0; i < 2 && i < rows; ++i)
        for (int j = 0; j < 2 && j < columns; ++j) {
          V v = best[i][j].value;
          if (bias) v = v + shift;
          if (relu) v = max(v, V(0));
          store(out + (i * width + j) * s.channels + c, v, lanes);
        }
    });
  }
}

void split_kernel(const WinogradKernel& k, int64_t row, bool rotated, const float* taps, float* points) {
  const int64_t tap = k.rows * k.columns;
  for (int64_t first = 0; first < k.columns; first += k.panel) {
    const int64_t count = k.columns - first < k.panel ? k.columns - first : k.panel;
    const float* in = taps + row * k.columns + first;
    float* out = points + first * k.rows + row * k.panel;
    for_vectors(count, [&](int64_t c, auto lanes) {
      transform<SplitKernel>(
          [&](int i, int j) { return load(in + (rotated ? 8 - i * 3 - j : i * 3 + j) * tap + c, lanes); },
          [&](int i, int j, V v) { store(out + (i * 6 + j) * k.plane + c, v, lanes); });
    });
    if (count == k.panel) continue;
    for (int64_t e = 0; e < kWinogradPoints; ++e)
      for (int64_t c = count; c < k.panel; ++c) out[e * k.plane + c] = 0;
  }
}

void join_kernel(const WinogradKernel& k, int64_t row, const float* points, float* taps) {
  const int64_t tap = k.rows * k.columns, at = row * k.columns;
  for_vectors(k.columns, [&](int64_t c, auto lanes) {
    transform<JoinKernel>([&](int i, int j) { return load(points + (i * 6 + j) * k.plane + at + c, lanes); },
                          [&](int i, int j, V v) { store(taps + (i * 3 + j) * tap + at + c, v, lanes); });
  });
}

}  // namespace

extern const WinogradLoops winograd_loops = {pixels_to_points<SplitData>,
                                             pixels_to_points<SpreadGradient>,
                                             points_to_pixels,
                                             points_to_largest,
                                             split_kernel,
                                             join_kernel};

}  // namespace martello::cpu::MARTELLO_ISA
