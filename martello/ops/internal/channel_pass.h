#pragma once
#include <martello/ops/internal/channel_loops.h>

#include <cstdint>
#include <type_traits>

// One pass over a batch in which elements share numbers (mean, scale ...) by segment and channel. Work is cut by sizes
// only and sums of pieces meet in f64 in one order, so that results do not depend on the threads.
namespace martello::internal {

// x [segments, images, pixels, channels], or [segments, images, channels, pixels].
struct ChannelView {
  int64_t segments = 1, images = 1, pixels = 1, channels = 1;
  bool is_last = true;
};

// x is T; or the bits of bf16, channels innermost.
template <class T, class X = T>
class ChannelPass {
 public:
  explicit ChannelPass(const ChannelView& view);

  int64_t segments() const { return view_.segments; }
  int64_t channels() const { return view_.channels; }
  // Elements that share a number.
  int64_t count() const { return count_; }
  // Arrays of numbers have this many per segment: those of the channels, repeated as often as helps.
  int64_t width() const { return width_; }
  void repeat(T* numbers) const;
  // f64 numbers that sums are gathered in.
  int64_t partials() const;

  // Into [segments, channels]: mean and sum of squared distances from it; NaN for no elements.
  void moments(const X* x, double* partials, double* mean, double* squares, int threads) const;
  // `addend`, where it is not null, has the shape of x and is added before relu.
  void normalize(const X* x, const T* addend, T* y, const cpu::ChannelAffine<T>& p, int threads) const;
  // Into bf16: channels innermost, T is float.
  void normalize_bf16(const X* x, const T* addend, uint16_t* y, const cpu::ChannelAffine<T>& p, int threads) const;
  // Into [segments, channels]: sums of dy and of dy (x - mean). With dx: in the same pass, where dx does not depend on
  // these sums.
  void gradient_sums(const X* x, const T* dy, const cpu::ChannelAffine<T>& p, double* partials, double* sum,
                     double* product, int threads, T* dx = nullptr, const cpu::ChannelSlope<T>& q = {}) const;
  void gradient(const X* x, const T* dy, T* dx, const cpu::ChannelAffine<T>& p, const cpu::ChannelSlope<T>& q,
                int threads) const;
  void gradient_bf16(const X* x, const T* dy, uint16_t* dx, const cpu::ChannelAffine<T>& p,
                     const cpu::ChannelSlope<T>& q, int threads) const;

 private:
  struct Item {
    int64_t at, number;  // of the first element, and of its number in arrays
    double* partial;     // two rows of numbers, `channels` apart
    cpu::ColumnBlock block;
  };
  // x as the loops over rows of pixels take it; these are not there for bf16.
  static const T* rows_of(const X* x) {
    if constexpr (std::is_same_v<T, X>) return x;
    else return nullptr;
  }
  Item item(int64_t i, double* partials) const;
  int64_t elements() const { return view_.segments * count_ * view_.channels; }
  int64_t items() const { return view_.segments * blocks_ * stretches_; }
  int64_t block_count(int64_t block) const;
  template <class F>
  void for_items(double* partials, int threads, F f) const;
  template <class F>
  void for_rows(double* partials, int threads, F f) const;
  // What moments and gradient_sums begin with: the numbers of each piece.
  void piece_moments(const X* x, double* partials, int threads) const;
  void piece_sums(const X* x, const T* dy, const cpu::ChannelAffine<T>& p, double* partials, int threads, T* dx,
                  const cpu::ChannelSlope<T>& q) const;
  template <class F>
  void gather(const double* partials, double* first, double* second, int threads, F merge) const;

  ChannelView view_;
  int64_t count_ = 0, width_ = 0;
  int64_t blocks_ = 0, block_rows_ = 0;  // pieces of a segment: rows of channels, or images
  int64_t stretches_ = 1;                // of the columns of very wide rows
};

}  // namespace martello::internal
