#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/ops/internal/axis_view.h>
#include <martello/ops/internal/channel_pass.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace martello::internal {

using cpu::ChannelAffine;
using cpu::ChannelSlope;

namespace {

constexpr int64_t kLanes = 16, kMostMerged = 1024, kLeastWidth = 128, kStretch = 2048, kBlockElements = 32768;

// Rows are merged until they are whole vectors, and some of them.
int64_t merged_width(int64_t channels) {
  if (channels == 0) return 0;
  int64_t width = channels / std::gcd(channels, kLanes);
  width = width <= kMostMerged / kLanes ? width * kLanes : channels;
  while (width < kLeastWidth) width *= 2;
  return width;
}

// The numbers from the i-th on.
template <class T>
ChannelAffine<T> operator+(const ChannelAffine<T>& p, int64_t i) {
  return {p.mean + i, p.scale + i, p.beta + i, p.relu};
}
template <class T>
ChannelSlope<T> operator+(const ChannelSlope<T>& q, int64_t i) {
  return {q.a + i, q.b + i, q.c + i};
}

// Results go past the caches where these do not hold them beside what is read, unless they take its place.
template <class Y, class... Read>
bool streams(int64_t elements, const Y* y, const Read*... read) {
  const auto is_y = [y](const void* x) { return x == y; };
  const auto bytes = static_cast<int64_t>((sizeof(Y) + ... + (read ? sizeof(Read) : 0)));
  return !(is_y(read) || ...) && elements * bytes > cpu::last_level_cache_bytes();
}

template <class T>
const T* part_of(const T* tensor, int64_t first) {
  return tensor ? tensor + first : nullptr;
}

// The second pass goes back: what a thread read last in the first is still in its caches.
ChunkOrder pass_order(const double* partials) { return partials ? ChunkOrder::ascending : ChunkOrder::descending; }

}  // namespace

template <class T, class X>
ChannelPass<T, X>::ChannelPass(const ChannelView& view) : view_(view) {
  view_.is_last = view.is_last || view.pixels == 1;
  MARTELLO_ASSERT(view_.is_last || (std::is_same_v<T, X>), "[norm] reads bf16 with channels innermost only.");
  count_ = checked_mul(view_.images, view_.pixels);
  checked_product(std::array{view_.segments, count_, view_.channels});
  width_ = view_.channels;
  blocks_ = view_.images;
  if (!view_.is_last) return;
  width_ = merged_width(view_.channels);
  stretches_ = ceil_div(width_, kStretch);
  const int64_t rows = std::max<int64_t>(kBlockElements / std::clamp<int64_t>(width_, 1, kStretch), 8);
  block_rows_ = rows * (width_ / std::max<int64_t>(view_.channels, 1));
  blocks_ = block_rows_ > 0 ? ceil_div(count_, block_rows_) : 0;
}

template <class T, class X>
int64_t ChannelPass<T, X>::partials() const {
  return checked_product(std::array{view_.segments, blocks_, int64_t{2}, view_.channels});
}

template <class T, class X>
void ChannelPass<T, X>::repeat(T* numbers) const {
  for (int64_t s = 0; s < view_.segments; ++s, numbers += width_)
    for (int64_t i = view_.channels; i < width_; ++i) numbers[i] = numbers[i - view_.channels];
}

template <class T, class X>
int64_t ChannelPass<T, X>::block_count(int64_t block) const {
  return view_.is_last ? std::min(block_rows_, count_ - block * block_rows_) : view_.pixels;
}

template <class T, class X>
typename ChannelPass<T, X>::Item ChannelPass<T, X>::item(int64_t i, double* partials) const {
  const int64_t column = i % stretches_ * kStretch, piece = i / stretches_;
  const int64_t segment = piece / blocks_, block = piece % blocks_, rows = block_count(block);
  const int64_t merged = width_ / view_.channels, c = view_.channels;
  return {.at = (segment * count_ + block * block_rows_) * c + column,
          .number = segment * width_ + column,
          .partial = partials ? partials + piece * 2 * c + column : nullptr,
          .block = {rows / merged, std::min(kStretch, width_ - column), width_, rows % merged * c}};
}

template <class T, class X>
template <class F>
void ChannelPass<T, X>::for_items(double* partials, int threads, F f) const {
  parallel_for(
      threads, items(), [&](int64_t i) { f(item(i, partials)); }, pass_order(partials));
}

// Calls f(first element, number, partial) for rows of pixels.
template <class T, class X>
template <class F>
void ChannelPass<T, X>::for_rows(double* partials, int threads, F f) const {
  const int64_t c = view_.channels, rows = view_.segments * view_.images * c, chunk = rows_per_chunk(view_.pixels);
  const int64_t chunks = ceil_div(rows, chunk);
  const auto run_chunk = [&](int64_t i) {
    for (int64_t r = i * chunk; r < std::min(rows, (i + 1) * chunk); ++r)
      f(r * view_.pixels, r / (view_.images * c) * c + r % c, partials ? partials + r / c * 2 * c + r % c : nullptr);
  };
  parallel_for(threads, chunks, run_chunk, pass_order(partials));
}

// merge(block, channels, partial, first number, second number) for each block of a segment, in order.
template <class T, class X>
template <class F>
void ChannelPass<T, X>::gather(const double* partials, double* first, double* second, int threads, F merge) const {
  constexpr int64_t kChannels = 64;
  const int64_t c = view_.channels, groups = ceil_div(c, kChannels);
  parallel_for(threads, view_.segments * groups, [&](int64_t i) {
    const int64_t channel = i % groups * kChannels, segment = i / groups, at = segment * c + channel;
    for (int64_t b = 0; b < blocks_; ++b)
      merge(b, std::min(kChannels, c - channel), partials + (segment * blocks_ + b) * 2 * c + channel, first + at,
            second + at);
  });
}

template <class T, class X>
void ChannelPass<T, X>::piece_moments(const X* x, double* partials, int threads) const {
  const int64_t c = view_.channels;
  if (!view_.is_last)
    return for_rows(partials, threads, [&](int64_t at, int64_t, double* partial) {
      cpu::row_loops<T>().moments(rows_of(x) + at, view_.pixels, partial, partial + c);
    });
  const auto& loops = cpu::column_loops<T, X>();
  for_items(partials, threads, [&](const Item& item) {
    alignas(64) T m[kStretch], q[kStretch];
    loops.moments(x + item.at, item.block, m, q);
    const int64_t columns = std::min(item.block.width, c);
    double before = 0;
    for (int64_t k = 0; k < item.block.width; k += columns) {
      const auto count = static_cast<double>(item.block.rows + (k < item.block.tail));
      if (count > 0) loops.merge_moments(m + k, q + k, count, before, item.partial, item.partial + c, columns);
      before += count;
    }
  });
}

template <class T, class X>
void ChannelPass<T, X>::moments(const X* x, double* partials, double* mean, double* squares, int threads) const {
  const int64_t c = view_.channels, none = count_ > 0 ? 0 : view_.segments * c;
  std::fill_n(mean, none, std::numeric_limits<double>::quiet_NaN());
  std::fill_n(squares, none, std::numeric_limits<double>::quiet_NaN());
  if (count_ == 0) return;
  piece_moments(x, partials, threads);
  const auto merge = cpu::column_loops<double>().merge_moments;
  gather(partials, mean, squares, threads, [&](int64_t b, int64_t n, const double* partial, double* m, double* q) {
    const int64_t before = b * (view_.is_last ? block_rows_ : view_.pixels);
    merge(partial, partial + c, static_cast<double>(block_count(b)), static_cast<double>(before), m, q, n);
  });
}

template <class T, class X>
void ChannelPass<T, X>::piece_sums(const X* x, const T* dy, const ChannelAffine<T>& p, double* partials, int threads,
                                   T* dx, const ChannelSlope<T>& q) const {
  const int64_t c = view_.channels;
  if (!view_.is_last)
    return for_rows(partials, threads, [&](int64_t at, int64_t i, double* partial) {
      const auto& loops = cpu::row_loops<T>();
      loops.gradient_sums(rows_of(x) + at, dy + at, view_.pixels, p + i, partial, partial + c);
      if (dx) loops.gradient(rows_of(x) + at, dy + at, dx + at, view_.pixels, p + i, q + i, false);
    });
  const auto& loops = cpu::column_loops<T, X>();
  for_items(partials, threads, [&](const Item& item) {
    alignas(64) T s[kStretch], products[kStretch];
    const int64_t at = item.at, i = item.number, columns = std::min(item.block.width, c);
    loops.gradient_sums(x + at, dy + at, item.block, p + i, s, products);
    if (dx) loops.gradient(x + at, dy + at, dx + at, item.block, p + i, q + i, false);
    std::fill_n(item.partial, columns, 0.0);
    std::fill_n(item.partial + c, columns, 0.0);
    for (int64_t k = 0; k < item.block.width; k += columns) {
      loops.add(s + k, item.partial, columns);
      loops.add(products + k, item.partial + c, columns);
    }
  });
}

template <class T, class X>
void ChannelPass<T, X>::gradient_sums(const X* x, const T* dy, const ChannelAffine<T>& p, double* partials, double* sum,
                                      double* product, int threads, T* dx, const ChannelSlope<T>& slope) const {
  const int64_t c = view_.channels;
  piece_sums(x, dy, p, partials, threads, dx, slope);
  std::fill_n(sum, view_.segments * c, 0.0);
  std::fill_n(product, view_.segments * c, 0.0);
  const auto add = cpu::column_loops<double>().add;
  gather(partials, sum, product, threads, [&](int64_t, int64_t n, const double* partial, double* s, double* q) {
    add(partial, s, n);
    add(partial + c, q, n);
  });
}

template <class T, class X>
void ChannelPass<T, X>::normalize(const X* x, const T* addend, T* y, const ChannelAffine<T>& p, int threads) const {
  const bool streaming = streams(elements(), y, x, addend);
  if (view_.is_last)
    for_items(nullptr, threads, [&](const Item& i) {
      cpu::column_loops<T, X>().normalize(x + i.at, part_of(addend, i.at), y + i.at, i.block, p + i.number, streaming);
    });
  else
    for_rows(nullptr, threads, [&](int64_t at, int64_t i, double*) {
      cpu::row_loops<T>().normalize(rows_of(x) + at, part_of(addend, at), y + at, view_.pixels, p + i, streaming);
    });
}

template <class T, class X>
void ChannelPass<T, X>::normalize_bf16(const X* x, const T* addend, uint16_t* y, const ChannelAffine<T>& p,
                                       int threads) const {
  const bool streaming = streams(elements(), y, x, addend);
  for_items(nullptr, threads, [&](const Item& i) {
    cpu::column_loops<T, X>().normalize_bf16(x + i.at, part_of(addend, i.at), y + i.at, i.block, p + i.number,
                                             streaming);
  });
}

template <class T, class X>
void ChannelPass<T, X>::gradient_bf16(const X* x, const T* dy, uint16_t* dx, const ChannelAffine<T>& p,
                                      const ChannelSlope<T>& q, int threads) const {
  const bool streaming = streams(elements(), dx, x, dy);
  for_items(nullptr, threads, [&](const Item& i) {
    cpu::column_loops<T, X>().gradient_bf16(x + i.at, dy + i.at, dx + i.at, i.block, p + i.number, q + i.number,
                                            streaming);
  });
}

template <class T, class X>
void ChannelPass<T, X>::gradient(const X* x, const T* dy, T* dx, const ChannelAffine<T>& p, const ChannelSlope<T>& q,
                                 int threads) const {
  const bool streaming = streams(elements(), dx, x, dy);
  if (view_.is_last)
    for_items(nullptr, threads, [&](const Item& i) {
      cpu::column_loops<T, X>().gradient(x + i.at, dy + i.at, dx + i.at, i.block, p + i.number, q + i.number,
                                         streaming);
    });
  else
    for_rows(nullptr, threads, [&](int64_t at, int64_t i, double*) {
      cpu::row_loops<T>().gradient(rows_of(x) + at, dy + at, dx + at, view_.pixels, p + i, q + i, streaming);
    });
}

template class ChannelPass<float>;
template class ChannelPass<float, uint16_t>;
template class ChannelPass<double>;

}  // namespace martello::internal
