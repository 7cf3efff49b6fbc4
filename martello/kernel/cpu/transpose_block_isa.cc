#include <martello/kernel/cpu/transpose_block.h>
#include <martello/kernel/cpu/vec_isa.h>

#include <utility>

namespace martello::cpu::MARTELLO_ISA {
namespace {

constexpr int64_t kLineBytes = 64;

// Past the caches; a vector that is not a whole cache line would reach memory in pieces.
#if MARTELLO_VEC_BYTES == 64
template <class Row>
void stream_line(char* p, Row row) {
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(row));
}
#endif

// K rows of K elements; 16 bytes of a row, within which instructions are cheap, are a lane of kLane elements. Rows are
// reached by constant indices only, so that they stay in registers.
template <class T, int K>
class Square {
 public:
  static constexpr int kBytes = K * static_cast<int>(sizeof(T));

  Square(const char* src, int64_t stride) { load(src, stride, Each()); }
  void transpose() {
    interleave<kLane>();
    exchange<K / kLane>();
  }
  void store(char* dst, int64_t stride) const { store_rows(dst, stride, Each()); }
  void stream(char* dst, int64_t stride) const { stream_rows(dst, stride, Each()); }

 private:
  typedef T Row __attribute__((vector_size(K * sizeof(T))));
  static constexpr int kLane = 16 / static_cast<int>(sizeof(T));
  using Each = std::make_integer_sequence<int, K>;
  Row rows_[K];

  template <int... I>
  void load(const char* src, int64_t stride, std::integer_sequence<int, I...>) {
    (memcpy(&rows_[I], src + I * stride, sizeof(Row)), ...);
  }
  template <int... I>
  void store_rows(char* dst, int64_t stride, std::integer_sequence<int, I...>) const {
    (memcpy(dst + I * stride, &rows_[I], sizeof(Row)), ...);
  }
  template <int... I>
  void stream_rows(char* dst, int64_t stride, std::integer_sequence<int, I...>) const {
    (stream_line(dst + I * stride, rows_[I]), ...);
  }

  // In each lane: the first (half = 0) or last (half = 1) elements of a and b in turn.
  template <int half, int... I>
  static Row in_turn(Row a, Row b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (I % 2 * K + I / kLane * kLane + half * kLane / 2 + I % kLane / 2)...);
  }
  // The even or odd lanes of a and b in a row.
  template <int odd, int... I>
  static Row every_other(Row a, Row b, std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, ((I / kLane * 2 + odd) * kLane + I % kLane)...);
  }

  // Both turn the digits of (row, place) by one binary digit each round, until the two have changed places: first the
  // elements within each lane, then the lanes of each row.
  template <int rounds>
  void interleave() {
    if constexpr (rounds > 1) {
      interleave_once(Each());
      interleave<rounds / 2>();
    }
  }
  template <int... I>
  void interleave_once(std::integer_sequence<int, I...>) {
    const Square x = *this;
    constexpr auto from = [](int i) { return i / kLane * kLane + i % kLane / 2; };
    ((rows_[I] = in_turn<I % 2>(x.rows_[from(I)], x.rows_[from(I) + kLane / 2], Each())), ...);
  }
  template <int rounds>
  void exchange() {
    if constexpr (rounds > 1) {
      exchange_once(Each());
      exchange<rounds / 2>();
    }
  }
  template <int... I>
  void exchange_once(std::integer_sequence<int, I...>) {
    const Square x = *this;
    constexpr auto from = [](int i) { return i % (K / 2) / kLane * 2 * kLane + i % kLane; };
    ((rows_[I] = every_other<2 * I / K>(x.rows_[from(I)], x.rows_[from(I) + kLane], Each())), ...);
  }
};

template <class T, int K, bool streaming>
void transpose_square(const char* src, int64_t src_stride, char* dst, int64_t dst_stride) {
  Square<T, K> square(src, src_stride);
  square.transpose();
  if constexpr (streaming) square.stream(dst, dst_stride);
  else square.store(dst, dst_stride);
}

// The last squares of a row or column lie over their neighbours: what is written twice is the same.
template <class T, int K, bool streaming>
void transpose_squares(const TransposeBlock& b) {
  for (int64_t column = 0; column < b.columns; column += K) {
    const int64_t c = column + K <= b.columns ? column : b.columns - K;
    for (int64_t row = 0; row < b.rows; row += K) {
      const int64_t r = row + K <= b.rows ? row : b.rows - K;
      transpose_square<T, K, streaming>(b.src + c * b.src_stride + r * static_cast<int64_t>(sizeof(T)), b.src_stride,
                                        b.dst + r * b.dst_stride + c * static_cast<int64_t>(sizeof(T)), b.dst_stride);
    }
  }
}

template <class T>
void transpose_elements(const TransposeBlock& b) {
  constexpr int64_t width = sizeof(T);
  for (int64_t r = 0; r < b.rows; ++r) {
    for (int64_t c = 0; c < b.columns; ++c)
      memcpy(b.dst + r * b.dst_stride + c * width, b.src + c * b.src_stride + r * width, sizeof(T));
  }
}

// Squares of K, or the largest smaller ones that fit.
template <class T, int K>
void transpose_by(const TransposeBlock& b) {
  if constexpr (K * sizeof(T) < 16 || K < 2) {
    transpose_elements<T>(b);
  } else {
    if (b.rows < K || b.columns < K) return transpose_by<T, K / 2>(b);
    if constexpr (K * sizeof(T) == kLineBytes && kVecBytes == kLineBytes) {
      const bool is_aligned =
          (reinterpret_cast<uintptr_t>(b.dst) | static_cast<uintptr_t>(b.dst_stride)) % kLineBytes == 0;
      if (b.streaming && is_aligned && b.columns % K == 0) return transpose_squares<T, K, true>(b);
    }
    transpose_squares<T, K, false>(b);
  }
}

template <class T>
void transpose_block(const TransposeBlock& b) {
  constexpr int lanes = kVecBytes / static_cast<int>(sizeof(T));
  transpose_by < T, lanes<16 ? lanes : 16>(b);
#if MARTELLO_VEC_BYTES == 64
  if (b.streaming) _mm_sfence();
#endif
}

}  // namespace

TransposeLoop transpose_loop(int64_t element_bytes) {
  switch (element_bytes) {
    case 1: return transpose_block<uint8_t>;
    case 2: return transpose_block<uint16_t>;
    case 4: return transpose_block<uint32_t>;
    default: return transpose_block<uint64_t>;
  }
}

}  // namespace martello::cpu::MARTELLO_ISA
