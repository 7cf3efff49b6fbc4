#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/internal/conv_library.h>
#include <martello/ops/internal/conv_winograd.h>

#include <algorithm>

namespace martello::internal {
namespace {

using onednn::Layout;

Layout image_layout(const ConvProblem& p, int64_t height, int64_t width, int64_t channels, DType dtype) {
  const int64_t pixels = checked_mul(height, width), image = checked_mul(pixels, channels);
  const bool is_nhwc = p.format == DataFormat::nhwc;
  return Layout({p.batch, channels, height, width},
                {image, is_nhwc ? 1 : pixels, is_nhwc ? width * channels : width, is_nhwc ? channels : 1}, dtype);
}

std::vector<int64_t> kernel_dims(const ConvProblem& p) {
  const int64_t out = p.out_channels / p.groups, in = p.in_channels / p.groups;
  std::vector<int64_t> dims{out, in, p.axes[0].window, p.axes[1].window};
  if (p.groups > 1) dims.insert(dims.begin(), p.groups);
  return dims;
}

}  // namespace

bool is_for_library(const ConvProblem& p) {
  // Beyond these the library has only its slowest code, with bits that depend on the number of threads, or none.
  constexpr int64_t kLargestWindow = 256, kLargestSize = INT32_MAX / 4;  // also with padding
  bool is_usual = std::max({p.batch, p.in_channels, p.out_channels}) <= kLargestSize;
  for (const WindowAxis& a : p.axes) {
    const int64_t reach = (a.window - 1) * a.dilation + 1;
    is_usual = is_usual && a.window <= kLargestWindow && std::max({a.before, a.after}) < reach &&
               std::max({a.in, a.out, a.stride, reach}) <= kLargestSize;
  }
  return (p.dtype == f32 || (p.dtype == bf16 && onednn::has_bf16())) && !p.has_no_elements() && is_usual;
}

// Measured: shorter sums and narrow groups, depthwise convolutions among them, take as long in bf16, and without AMX
// Winograd's algorithm in f32 is faster than it where there are many channels.
bool gains_by_bf16(const ConvProblem& p, ConvDirection direction, onednn::Bf16 library) {
  constexpr int64_t kManyChannels = 64;
  ConvProblem in_f32 = p;
  in_f32.dtype = f32;
  const bool has_rival = library != onednn::Bf16::tiles && is_winograd_faster(in_f32, direction);
  if (has_rival && std::min(p.in_channels, p.out_channels) >= kManyChannels) return false;
  constexpr double kShortestSum = 32;
  constexpr int64_t kFewestChannels = 16;
  double sum = static_cast<double>(p.in_channels / p.groups);
  for (const WindowAxis& a : p.axes) sum *= static_cast<double>(a.window);
  return sum >= kShortestSum && p.out_channels / p.groups >= kFewestChannels;
}

Layout plain_kernel(const ConvProblem& p, DType dtype) {
  const int64_t in = p.in_channels / p.groups, column = checked_mul(in, p.out_channels);
  std::vector<int64_t> strides{1, p.out_channels, checked_mul(p.axes[1].window, column), column};
  if (p.groups > 1) strides.insert(strides.begin(), p.out_channels / p.groups);
  return Layout(kernel_dims(p), strides, dtype);
}

onednn::ConvDesc library_conv(const ConvProblem& p, ConvDirection direction, const Layout& weights, bool has_bias) {
  using Kind = onednn::ConvDesc::Kind;
  const auto &h = p.axes[0], &w = p.axes[1];
  const auto x_layout = [&](DType dtype) { return image_layout(p, h.in, w.in, p.in_channels, dtype); };
  const bool gives_x = direction == ConvDirection::grad_input, gives_y = direction == ConvDirection::forward;
  return {.kind = direction == ConvDirection::forward      ? Kind::forward
                  : direction == ConvDirection::grad_input ? Kind::backward_data
                                                           : Kind::backward_weights,
          .x = x_layout(gives_x ? p.result_dtype() : p.dtype),
          .weights = weights.is_null() ? Layout::any(kernel_dims(p), p.kernel_dtype(direction)) : weights,
          .y = image_layout(p, h.out, w.out, p.out_channels, gives_y ? p.result_dtype() : p.dtype),
          .bias = has_bias ? Layout({p.out_channels}, p.sum_dtype()) : Layout(),
          .factors = p.dtype,
          .factor_x = gives_x && p.dtype == bf16 ? x_layout(bf16) : Layout(),
          .stride = {h.stride, w.stride},
          .dilation = {h.dilation, w.dilation},
          .before = {h.before, w.before},
          .after = {h.after, w.after}};
}

Layout wanted_kernel(const OpInfo& op, const ConvProblem& p, ConvDirection direction, int threads,
                     const std::string& implementation) {
  onednn::ConvDesc desc = library_conv(p, direction, Layout());
  desc.implementation = implementation;
  return onednn::convolution_weights(op, desc, threads);
}

onednn::Primitive kernel_reorder(const OpInfo& op, const ConvProblem& p, ConvDirection direction, DType plain,
                                 const Layout& packed, int threads) {
  const Layout kernel = plain_kernel(p, plain);
  return direction == ConvDirection::grad_kernel ? onednn::make_reorder(op, packed, kernel, threads)
                                                 : onednn::make_reorder(op, kernel, packed, threads);
}

Layout packed_kernel(const OpInfo& op, const ConvProblem& p, ConvDirection direction, const KernelPacking& packing) {
  const Layout wanted =
      is_for_library(p) ? wanted_kernel(op, p, direction, packing.threads, packing.implementation) : Layout();
  const int64_t bytes = wanted.is_null() ? 0 : wanted.bytes();
  MARTELLO_CHECK(bytes > 0 && ceil_div(bytes, size_of(p.kernel_dtype(direction))) == packing.elements, "[", op.type,
                 " '", op.name, "'] ", onednn::version(), " packs a kernel ", packing.kernel, " into ", bytes,
                 " bytes, not into ", packing.elements,
                 " numbers: the graph was made for another machine or version. Make it again.");
  return wanted;
}

KernelPacking find_packing(const OpInfo& op, const ConvProblem& p, ConvDirection direction, int threads,
                           const std::string& implementation) {
  if (!is_for_library(p)) return {};
  const Layout wanted = wanted_kernel(op, p, direction, threads, implementation);
  const DType dtype = p.kernel_dtype(direction);
  if (wanted.is_null() || wanted == plain_kernel(p, dtype)) return {};
  const Shape kernel(p.axes[0].window, p.axes[1].window, p.in_channels / p.groups, p.out_channels);
  return {kernel, ceil_div(wanted.bytes(), size_of(dtype)), threads, implementation};
}

}  // namespace martello::internal
