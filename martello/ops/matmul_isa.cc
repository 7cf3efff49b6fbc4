#include <martello/kernel/cpu/vec_isa.h>
#include <martello/ops/internal/gemm_loops.h>

namespace martello::cpu::MARTELLO_ISA {
namespace {

// A panel is as many columns as fit beside the accumulators: 32 registers at level v4, 16 below.
constexpr int kPanelVecs = kVecBytes == 64 ? 4 : 2;
constexpr int kDepth = 1024;       // rows of a panel that stay in the second cache; the first one reads ahead
constexpr int64_t kAhead = 8;      // rows of b that are asked for while it is kept
constexpr int64_t kShortSum = 16;  // made sooner than a line of y arrives
template <int Vecs>
constexpr int kTileRows = kVecBytes == 64 ? (Vecs <= 2   ? 12
                                             : Vecs == 4 ? 6
                                                         : 8)
                                          : (Vecs == 1 ? 8 : 4);

template <class T>
constexpr int64_t kPanel = int64_t{kPanelVecs} * Vec<T>::kLanes;

// Lanes of the last vector of a panel: all of them (known when compiled), or the first few.
struct Whole {};
struct Part {
  int64_t lanes;
};
template <class T>
Vec<T> load(const T* p, Whole) {
  return Vec<T>::load(p);
}
template <class T>
Vec<T> load(const T* p, Part part) {
  return load_first(p, part.lanes, Vec<T>(0));
}
template <class T>
void store(T* p, Vec<T> x, Whole) {
  x.store(p);
}
template <class T>
void store(T* p, Vec<T> x, Part part) {
  store_first(p, part.lanes, x);
}

// Vecs vectors side by side, the last of which ends as `last` says.
template <class T, int Vecs, class Last>
struct Columns {
  Last last;
  Vec<T> load(const T* p, int v) const {
    p += v * Vec<T>::kLanes;
    return v == Vecs - 1 ? MARTELLO_ISA::load(p, last) : Vec<T>::load(p);
  }
  void store(T* p, int v, Vec<T> x) const {
    p += v * Vec<T>::kLanes;
    if (v == Vecs - 1) MARTELLO_ISA::store(p, x, last);
    else x.store(p);
  }
};

// One depth block of one panel.
template <class T>
struct Block {
  const T* a;
  const T* b;
  int64_t b_row;
  T* y;
  const T* bias;
  bool is_first, is_last, relu;
  int64_t depth;
  T* kept;        // rows of a panel
  const T* next;  // the panel that comes next, or null
};

// What a tile does beside multiplying by a row of b: puts it where others find it, or asks for one of the next panel.
enum class Also { nothing, keeps, asks };

template <class T>
Vec<T> broadcast_of(const T* p) {
  return Vec<T>(*p - typename Vec<T>::Native{});
}

// The compiler would load what few rows share anew for each of them.
template <class T>
void hold_in_register(Vec<T>& x) {
  asm("" : "+v"(x.v));
}

// Without full unrolling the sums would live in memory.
#if defined(__clang__)
#define MARTELLO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MARTELLO_UNROLL _Pragma("GCC unroll 16")
#endif

// Few enough that the first cache still can have misses of its own under way.
constexpr int64_t kAskEvery = 64, kAskFor = 12;
inline void ask_for_some(GemmAhead& ahead) {
  constexpr uintptr_t kLine = 64;
  for (int64_t i = 0; i < kAskFor && ahead.at < ahead.count; ++i) {
    GemmAhead::Part& part = ahead.parts[ahead.at];
    if (ahead.line == 0) ahead.line = part.row / kLine * kLine;
    const auto* line = reinterpret_cast<const void*>(ahead.line);
    if (part.writes) __builtin_prefetch(line, 1);
    else __builtin_prefetch(line);
    ahead.line += kLine;
    if (ahead.line < part.row + part.bytes) continue;
    ahead.line = 0;
    part.row += part.row_bytes;
    if (--part.rows == 0) ++ahead.at;
  }
}

// The part of the next tile's rows of a that lies below the next kAskEvery rows of b. Each row of a is a short stream
// of its own, over before the machine has guessed where it goes.
template <int Rows, class T>
void ask_for_rows(const T* a, int64_t a_row) {
  constexpr int64_t kLine = 64 / sizeof(T);
  MARTELLO_UNROLL
  for (int i = 0; i < Rows; ++i) MARTELLO_UNROLL
  for (int64_t p = 0; p < kAskEvery; p += kLine) __builtin_prefetch(a + i * a_row + p, 0, 2);
}

// A row of b, and a request for one that follows: a wide b has every row on a page of its own.
template <class T, int Vecs>
void keep(const Vec<T>* w, const T* ahead, T* kept) {
  MARTELLO_UNROLL
  for (int v = 0; v < Vecs; ++v) {
    __builtin_prefetch(ahead + v * Vec<T>::kLanes);
    w[v].store(kept + v * Vec<T>::kLanes);
  }
}

template <class T, int Vecs, int Rows, Also kAlso, class Last>
void tile(const GemmTask<T>& t, const Block<T>& block, int64_t row, Columns<T, Vecs, Last> columns) {
  Vec<T> sum[Rows][Vecs];
  T* y = block.y + row * t.y_row;
  MARTELLO_UNROLL
  for (int i = 0; i < Rows; ++i) MARTELLO_UNROLL
  for (int v = 0; v < Vecs; ++v) sum[i][v] = block.is_first ? Vec<T>(0) : columns.load(y + i * t.y_row, v);
  // Lines of y that lie in no cache, or in another core's, arrive while the sums are made.
  if (block.is_first && block.depth > kShortSum) {
    MARTELLO_UNROLL
    for (int i = 0; i < Rows; ++i) MARTELLO_UNROLL
    for (int v = 0; v < Vecs; ++v) __builtin_prefetch(y + i * t.y_row + v * Vec<T>::kLanes, 1);
  }
  // Of sums that go on, the next tile's: it would wait for all of its lines at once.
  if (!block.is_first) {
    MARTELLO_UNROLL
    for (int i = Rows; i < 2 * Rows; ++i) MARTELLO_UNROLL
    for (int v = 0; v < Vecs; ++v) __builtin_prefetch(y + i * t.y_row + v * Vec<T>::kLanes, 1);
  }
  const T* addend = block.is_last && t.addend ? t.addend + (y - t.y) : nullptr;
  if (addend) {
    MARTELLO_UNROLL
    for (int i = 0; i < Rows; ++i) MARTELLO_UNROLL
    for (int v = 0; v < Vecs; ++v) __builtin_prefetch(addend + i * t.y_row + v * Vec<T>::kLanes);
  }
  const T *a = block.a + row * t.a_row, *b = block.b;
  for (int64_t first = 0, p = 0; first < block.depth; first += kAskEvery) {
    if (t.ahead) ask_for_some(*t.ahead);
    const int64_t last = block.depth - first < kAskEvery ? block.depth : first + kAskEvery;
    if (t.asks_for_a) ask_for_rows<Rows>(a + Rows * t.a_row, t.a_row);
    for (; p < last; ++p, a += t.a_column, b += block.b_row) {
      Vec<T> w[Vecs];
      MARTELLO_UNROLL
      for (int v = 0; v < Vecs; ++v) {
        w[v] = columns.load(b, v);
        if constexpr (Rows > 1) hold_in_register(w[v]);
      }
      if constexpr (kAlso == Also::keeps) keep<T, Vecs>(w, b + kAhead * block.b_row, block.kept + p * kPanel<T>);
      if constexpr (kAlso == Also::asks) __builtin_prefetch(block.next + p * block.b_row, 0, 2);
      MARTELLO_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const Vec<T> x = broadcast_of(a + i * t.a_row);
        MARTELLO_UNROLL
        for (int v = 0; v < Vecs; ++v) sum[i][v] = fma(x, w[v], sum[i][v]);
      }
    }
  }
  const bool has_bias = block.is_last && block.bias, has_relu = block.is_last && t.relu;
  if (!has_bias && !addend && !has_relu) {
    MARTELLO_UNROLL
    for (int i = 0; i < Rows; ++i) MARTELLO_UNROLL
    for (int v = 0; v < Vecs; ++v) columns.store(y + i * t.y_row, v, sum[i][v]);
    return;
  }
  MARTELLO_UNROLL
  for (int v = 0; v < Vecs; ++v) {
    const Vec<T> bias = has_bias ? columns.load(block.bias, v) : Vec<T>(0);
    MARTELLO_UNROLL
    for (int i = 0; i < Rows; ++i) {
      Vec<T> r = has_bias ? sum[i][v] + bias : sum[i][v];
      if (addend) r = r + columns.load(addend + i * t.y_row, v);
      if (has_relu) r = max(r, Vec<T>(0));
      columns.store(y + i * t.y_row, v, r);
    }
  }
}

// A tile of `height` rows, at most Rows.
template <class T, int Vecs, int Rows, Also kAlso, class Last>
void tile_of(int64_t height, const GemmTask<T>& t, const Block<T>& block, int64_t row,
             const Columns<T, Vecs, Last>& columns) {
  if constexpr (Rows > 1) {
    if (height < Rows) return tile_of<T, Vecs, Rows - 1, kAlso>(height, t, block, row, columns);
  }
  tile<T, Vecs, Rows, kAlso>(t, block, row, columns);
}

// The fewest tiles that hold the rows, of heights as even as can be: a low tile waits for its loads.
template <int Vecs>
int64_t next_height(int64_t rows) {
  const int64_t tiles = (rows + kTileRows<Vecs> - 1) / kTileRows<Vecs>;
  return (rows + tiles - 1) / tiles;
}

template <class T, int Vecs, class Last>
void rows_of_panel(const GemmTask<T>& t, const Block<T>& block, int64_t row, const Columns<T, Vecs, Last>& columns) {
  while (row < t.last_row) {
    const int64_t height = next_height<Vecs>(t.last_row - row);
    tile_of<T, Vecs, kTileRows<Vecs>, Also::nothing>(height, t, block, row, columns);
    row += height;
  }
}

template <class T, int Vecs, class Last>
void keeping_rows_of_panel(const GemmTask<T>& t, const Block<T>& block, const Columns<T, Vecs, Last>& columns) {
  const int64_t height = next_height<Vecs>(t.last_row - t.first_row);
  tile_of<T, Vecs, kTileRows<Vecs>, Also::keeps>(height, t, block, t.first_row, columns);
  Block<T> kept = block;
  kept.b = block.kept;
  kept.b_row = kPanel<T>;
  rows_of_panel(t, kept, t.first_row + height, columns);
}

// The first tile brings this panel into the second cache. Each of the others asks for a line of every row of the next
// panel: memory would do nothing meanwhile.
template <class T, int Vecs, class Last>
void asking_rows_of_panel(const GemmTask<T>& t, Block<T> block, const Columns<T, Vecs, Last>& columns) {
  int64_t row = t.first_row;
  for (int line = -1; line < kPanelVecs && row < t.last_row; ++line) {
    const int64_t height = next_height<Vecs>(t.last_row - row);
    if (line < 0) {
      tile_of<T, Vecs, kTileRows<Vecs>, Also::nothing>(height, t, block, row, columns);
    } else {
      tile_of<T, Vecs, kTileRows<Vecs>, Also::asks>(height, t, block, row, columns);
      block.next += Vec<T>::kLanes;
    }
    row += height;
  }
  rows_of_panel(t, block, row, columns);
}

template <class T, int Vecs, class Last>
void panel_of(const GemmTask<T>& t, const Block<T>& block, Columns<T, Vecs, Last> columns) {
  // Loops of f64 are not worth a second set: without, b is read as it lies.
  if constexpr (sizeof(T) == sizeof(float)) {
    if (block.kept && t.first_row < t.last_row) return keeping_rows_of_panel(t, block, columns);
    if (block.next) return asking_rows_of_panel(t, block, columns);
  }
  rows_of_panel(t, block, t.first_row, columns);
}

template <class T, int Vecs>
void panel_rows(const GemmTask<T>& t, const Block<T>& block, int vecs, int64_t tail) {
  if constexpr (Vecs > 1) {
    if (vecs < Vecs) return panel_rows<T, Vecs - 1>(t, block, vecs, tail);
  }
  if (!tail) panel_of(t, block, Columns<T, Vecs, Whole>{});
  else panel_of(t, block, Columns<T, Vecs, Part>{{tail}});
}

template <class T>
void gemm_rows(const GemmTask<T>& t) {
  for (int64_t column = t.first_column; column < t.last_column; column += kPanel<T>) {
    const int64_t left = t.last_column - column, width = left < kPanel<T> ? left : kPanel<T>;
    const int vecs = static_cast<int>((width + Vec<T>::kLanes - 1) / Vec<T>::kLanes);
    const T* b = t.is_packed ? t.b + column * t.k : t.b + column;
    const int64_t b_row = t.is_packed ? kPanel<T> : t.b_row;
    for (int64_t p = 0; p == 0 || p < t.k; p += kDepth) {
      const int64_t depth = t.k - p < kDepth ? t.k - p : kDepth;
      const Block<T> block{t.a + p * t.a_column,
                           b + p * b_row,
                           b_row,
                           t.y + column,
                           t.bias ? t.bias + column : nullptr,
                           p == 0 && !t.adds,
                           p + depth == t.k,
                           t.relu,
                           depth,
                           t.kept ? t.kept + p * kPanel<T> : nullptr,
                           t.asks_for_b && left > kPanel<T> ? b + p * b_row + kPanel<T> : nullptr};
      panel_rows<T, kPanelVecs>(t, block, vecs, width % Vec<T>::kLanes);
    }
  }
}

inline void transpose_4x4(const float* b, int64_t column, float* panel, int64_t width) {
  __m128 r0 = _mm_loadu_ps(b), r1 = _mm_loadu_ps(b + column), r2 = _mm_loadu_ps(b + 2 * column),
         r3 = _mm_loadu_ps(b + 3 * column);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(panel, r0);
  _mm_storeu_ps(panel + width, r1);
  _mm_storeu_ps(panel + 2 * width, r2);
  _mm_storeu_ps(panel + 3 * width, r3);
}
inline void transpose_4x4(const double* b, int64_t column, double* panel, int64_t width) {
  for (int64_t j = 0; j < 4; ++j)
    for (int64_t p = 0; p < 4; ++p) panel[p * width + j] = b[j * column + p];
}

// A matrix whose rows lie one element apart, its columns `column` apart.
template <class T>
void pack_transposed(const T* b, int64_t column, int64_t k, int64_t count, T* panel) {
  constexpr int64_t kWidth = kPanel<T>;
  const int64_t blocks_k = k / 4 * 4, blocks_n = count / 4 * 4;
  for (int64_t j = 0; j < blocks_n; j += 4)
    for (int64_t p = 0; p < blocks_k; p += 4) transpose_4x4(b + j * column + p, column, panel + p * kWidth + j, kWidth);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = p < blocks_k ? blocks_n : 0; j < count; ++j) panel[p * kWidth + j] = b[j * column + p];
    for (int64_t j = count; j < kWidth; ++j) panel[p * kWidth + j] = 0;
  }
}

template <class T>
void gemm_pack(const T* b, int64_t row, int64_t column, int64_t k, int64_t count, T* panel) {
  if (row == 1) return pack_transposed(b, column, k, count, panel);
  constexpr int64_t kWidth = kPanel<T>;
  for (int64_t p = 0; p < k; ++p, b += row, panel += kWidth) {
    memcpy(panel, b, static_cast<size_t>(count) * sizeof(T));
    for (int64_t j = count; j < kWidth; ++j) panel[j] = 0;
  }
}

template <class T>
void finish(T* y, int64_t rows, int64_t columns, const T* bias, const T* addend, bool relu) {
  const auto vector = [&](int64_t i, auto lanes) {
    Vec<T> v = load(y + i, lanes);
    if (bias) v = v + load(bias + i, lanes);
    if (addend) v = v + load(addend + i, lanes);
    store(y + i, relu ? max(v, Vec<T>(0)) : v, lanes);
  };
  constexpr int64_t kLanes = Vec<T>::kLanes;
  for (int64_t row = 0; row < rows; ++row, y += columns, addend += addend ? columns : 0) {
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes) vector(i, Whole{});
    if (const int64_t left = columns - i; left > 0) vector(i, Part{left});
  }
}

}  // namespace

extern const GemmLoops<float> gemm_loops_f32 = {kPanel<float>, gemm_rows<float>, gemm_pack<float>, finish<float>};
extern const GemmLoops<double> gemm_loops_f64 = {kPanel<double>, gemm_rows<double>, gemm_pack<double>, finish<double>};

}  // namespace martello::cpu::MARTELLO_ISA
