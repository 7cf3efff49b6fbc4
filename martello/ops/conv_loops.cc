#include <martello/base/threads.h>
#include <martello/ops/internal/conv_loops.h>

#include <algorithm>

namespace martello::internal {
namespace {

// Distances in elements between neighbours along each dimension of an image batch.
struct ImageStrides {
  int64_t batch, height, width, channel;
  ImageStrides(DataFormat format, int64_t h, int64_t w, int64_t channels) {
    const bool is_nhwc = format == DataFormat::nhwc;
    batch = h * w * channels;
    channel = is_nhwc ? 1 : h * w;
    width = is_nhwc ? channels : 1;
    height = is_nhwc ? w * channels : w;
  }
};

// What the three loops share.
struct Loop {
  const ConvProblem& p;
  ImageStrides x, y;
  int64_t group_in, group_out, kernel_w, kernel_h;  // the last two: steps of the kernel along width and height

  explicit Loop(const ConvProblem& problem)
      : p(problem),
        x(p.format, p.axes[0].in, p.axes[1].in, p.in_channels),
        y(p.format, p.axes[0].out, p.axes[1].out, p.out_channels),
        group_in(p.in_channels / p.groups),
        group_out(p.out_channels / p.groups),
        kernel_w(group_in * p.out_channels),
        kernel_h(p.axes[1].window * kernel_w) {}
};

// The output whose tap k lies on input pixel i, or -1.
int64_t target(const WindowAxis& a, int64_t i, int64_t k) {
  const int64_t at = i + a.before - k * a.dilation;
  return at >= 0 && at % a.stride == 0 && at / a.stride < a.out ? at / a.stride : -1;
}

// y[o] += x[c] w[c, o] within each group
template <class T>
void add_pixel(const Loop& l, const T* x, const T* w, T* y) {
  for (int64_t g = 0; g < l.p.groups; ++g)
    for (int64_t c = 0; c < l.group_in; ++c) {
      const T v = x[(g * l.group_in + c) * l.x.channel];
      const T* row = w + c * l.p.out_channels + g * l.group_out;
      T* out = y + g * l.group_out * l.y.channel;
      for (int64_t o = 0; o < l.group_out; ++o) out[o * l.y.channel] += v * row[o];
    }
}

// x[c] += sum of y[o] w[c, o] within each group
template <class T>
void add_pixel_back(const Loop& l, const T* y, const T* w, T* x) {
  for (int64_t g = 0; g < l.p.groups; ++g)
    for (int64_t c = 0; c < l.group_in; ++c) {
      const T* row = w + c * l.p.out_channels + g * l.group_out;
      const T* in = y + g * l.group_out * l.y.channel;
      T sum = 0;
      for (int64_t o = 0; o < l.group_out; ++o) sum += in[o * l.y.channel] * row[o];
      x[(g * l.group_in + c) * l.x.channel] += sum;
    }
}

// Calls body(kh, kw, h, w) for the taps of pixel (i, j) that `find` puts inside the other image.
template <class Find, class F>
void for_taps(const ConvProblem& p, int64_t i, int64_t j, const Find& find, const F& body) {
  for (int64_t kh = 0; kh < p.axes[0].window; ++kh) {
    const int64_t h = find(p.axes[0], i, kh);
    for (int64_t kw = 0; h >= 0 && kw < p.axes[1].window; ++kw)
      if (const int64_t w = find(p.axes[1], j, kw); w >= 0) body(kh, kw, h, w);
  }
}

template <class T>
void finish_pixel(const Loop& l, const T* bias, const T* addend, bool relu, T* y) {
  for (int64_t o = 0; o < l.p.out_channels; ++o) {
    T& v = y[o * l.y.channel];
    if (bias) v += bias[o];
    if (addend) v += addend[o * l.y.channel];
    if (relu && v <= 0) v = 0;
  }
}

}  // namespace

template <class T>
void convolve(int threads, const ConvProblem& p, const T* x, const T* kernel, const T* bias, const T* addend, bool relu,
              T* y) {
  const Loop l(p);
  parallel_for(threads, p.batch * p.axes[0].out, [&](int64_t row) {
    const int64_t n = row / p.axes[0].out, i = row % p.axes[0].out;
    for (int64_t j = 0; j < p.axes[1].out; ++j) {
      T* pixel = y + n * l.y.batch + i * l.y.height + j * l.y.width;
      for (int64_t o = 0; o < p.out_channels; ++o) pixel[o * l.y.channel] = 0;
      for_taps(p, i, j, input_under, [&](int64_t kh, int64_t kw, int64_t h, int64_t w) {
        add_pixel(l, x + n * l.x.batch + h * l.x.height + w * l.x.width, kernel + kh * l.kernel_h + kw * l.kernel_w,
                  pixel);
      });
      finish_pixel(l, bias, addend ? addend + (pixel - y) : nullptr, relu, pixel);
    }
  });
}

template <class T>
void convolve_back(int threads, const ConvProblem& p, const T* dy, const T* kernel, T* dx) {
  const Loop l(p);
  parallel_for(threads, p.batch * p.axes[0].in, [&](int64_t row) {
    const int64_t n = row / p.axes[0].in, i = row % p.axes[0].in;
    for (int64_t j = 0; j < p.axes[1].in; ++j) {
      T* pixel = dx + n * l.x.batch + i * l.x.height + j * l.x.width;
      for (int64_t c = 0; c < p.in_channels; ++c) pixel[c * l.x.channel] = 0;
      for_taps(p, i, j, target, [&](int64_t kh, int64_t kw, int64_t h, int64_t w) {
        add_pixel_back(l, dy + n * l.y.batch + h * l.y.height + w * l.y.width,
                       kernel + kh * l.kernel_h + kw * l.kernel_w, pixel);
      });
    }
  });
}

namespace {

// dkernel[kh, kw, c, :] += the pixels of one image
template <class T>
void correlate_image(const Loop& l, int64_t kh, int64_t kw, int64_t c, const T* x, const T* dy, T* row) {
  for (int64_t i = 0; i < l.p.axes[0].out; ++i) {
    const int64_t h = input_under(l.p.axes[0], i, kh);
    for (int64_t j = 0; h >= 0 && j < l.p.axes[1].out; ++j) {
      const int64_t w = input_under(l.p.axes[1], j, kw);
      if (w < 0) continue;
      const T* in = x + h * l.x.height + w * l.x.width;
      const T* out = dy + i * l.y.height + j * l.y.width;
      for (int64_t o = 0; o < l.p.out_channels; ++o)
        row[o] += in[(o / l.group_out * l.group_in + c) * l.x.channel] * out[o * l.y.channel];
    }
  }
}

}  // namespace

template <class T>
void correlate(int threads, const ConvProblem& p, const T* x, const T* dy, T* dkernel) {
  const Loop l(p);
  parallel_for(threads, p.axes[0].window * p.axes[1].window * l.group_in, [&](int64_t task) {
    const int64_t c = task % l.group_in, tap = task / l.group_in;
    T* row = dkernel + task * p.out_channels;
    std::fill_n(row, p.out_channels, T(0));
    for (int64_t n = 0; n < p.batch; ++n)
      correlate_image(l, tap / p.axes[1].window, tap % p.axes[1].window, c, x + n * l.x.batch, dy + n * l.y.batch, row);
  });
}

template void convolve(int, const ConvProblem&, const float*, const float*, const float*, const float*, bool, float*);
template void convolve(int, const ConvProblem&, const double*, const double*, const double*, const double*, bool,
                       double*);
template void convolve_back(int, const ConvProblem&, const float*, const float*, float*);
template void convolve_back(int, const ConvProblem&, const double*, const double*, double*);
template void correlate(int, const ConvProblem&, const float*, const float*, float*);
template void correlate(int, const ConvProblem&, const double*, const double*, double*);

}  // namespace martello::internal
