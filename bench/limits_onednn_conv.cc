#include "limits.h"

#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/onednn_version.h>

#include <memory>
#include <type_traits>
#include <unordered_map>

namespace bench {
namespace {

using namespace dnnl;
using Arguments = std::unordered_map<int, memory>;

constexpr auto kResult = memory::data_type::f32;

// Same padding; the stride follows from the sizes.
struct Sizes {
  memory::data_type factors;
  memory::dims x, w, y, stride, before, after;

  Sizes(martello::DType dtype, const martello::Shape& image, const martello::Shape& kernel,
        const martello::Shape& result)
      : factors(dtype == martello::bf16 ? memory::data_type::bf16 : memory::data_type::f32),
        x{image[0], image[3], image[1], image[2]},
        w{kernel[3], kernel[2], kernel[0], kernel[1]},
        y{result[0], result[3], result[1], result[2]} {
    for (size_t axis = 2; axis < 4; ++axis) {
      const int64_t step = (x[axis] + y[axis] - 1) / y[axis];
      const int64_t total = std::max<int64_t>((y[axis] - 1) * step + w[axis] - x[axis], 0);
      stride.push_back(step);
      before.push_back(total / 2);
      after.push_back(total - total / 2);
    }
  }
};

memory::desc image(const memory::dims& dims, memory::data_type type) { return {dims, type, memory::format_tag::nhwc}; }
memory::desc kernel(const Sizes& s, memory::data_type type) { return {s.w, type, memory::format_tag::any}; }

convolution_forward::primitive_desc forward(const engine& e, const Sizes& s, memory::data_type result) {
  constexpr auto kKind = prop_kind::forward_training;
  constexpr auto kDirect = algorithm::convolution_direct;
  return martello::onednn::make_desc<convolution_forward>(e, primitive_attr(), kKind, kDirect, image(s.x, s.factors),
                                                          kernel(s, s.factors), image(s.y, result), s.stride, s.before,
                                                          s.after);
}

template <class P>
typename P::primitive_desc backward(const engine& e, const Sizes& s) {
  constexpr auto kDirect = algorithm::convolution_direct;
  constexpr bool gives_x = std::is_same_v<P, convolution_backward_data>;
  return martello::onednn::make_gradient_desc<P>(
      e, primitive_attr(), forward(e, s, s.factors), kDirect, image(s.x, gives_x ? kResult : s.factors),
      kernel(s, gives_x ? s.factors : kResult), image(s.y, s.factors), s.stride, s.before, s.after);
}

// Memory that holds `t`'s bytes, or of its own where the library chose the layout.
memory filled(const engine& e, const memory::desc& desc, const martello::HostTensor* t = nullptr) {
  if (t) return memory(desc, e, const_cast<std::byte*>(t->raw()));
  memory m(desc, e);
  auto* data = static_cast<float*>(m.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) data[i] = 0.25f;
  return m;
}

}  // namespace

std::function<void()> make_onednn_conv(const Row& row, const martello::HostTensors& in,
                                       const martello::HostTensor& output, int threads) {
  const martello::ThreadCount team(threads);
  const auto e = std::make_shared<engine>(engine::kind::cpu, 0);
  const auto s = std::make_shared<stream>(*e);
  primitive work;
  Arguments arguments;
  if (row.op == "conv2d") {
    const auto pd = forward(*e, {in[0].dtype(), in[0].shape(), in[1].shape(), output.shape()}, kResult);
    work = convolution_forward(pd);
    arguments = {{DNNL_ARG_SRC, filled(*e, pd.src_desc(), &in[0])},
                 {DNNL_ARG_WEIGHTS, filled(*e, pd.weights_desc())},
                 {DNNL_ARG_DST, filled(*e, pd.dst_desc())}};
  } else if (row.op == "conv2d_grad_input") {
    const auto pd =
        backward<convolution_backward_data>(*e, {in[0].dtype(), output.shape(), in[1].shape(), in[0].shape()});
    work = convolution_backward_data(pd);
    arguments = {{DNNL_ARG_DIFF_DST, filled(*e, pd.diff_dst_desc(), &in[0])},
                 {DNNL_ARG_WEIGHTS, filled(*e, pd.weights_desc())},
                 {DNNL_ARG_DIFF_SRC, filled(*e, pd.diff_src_desc())}};
  } else {
    MARTELLO_CHECK(row.op == "conv2d_grad_kernel", "[bench] there is no limit 'onednn' for '", row.op, "'.");
    const auto pd =
        backward<convolution_backward_weights>(*e, {in[0].dtype(), in[0].shape(), output.shape(), in[1].shape()});
    work = convolution_backward_weights(pd);
    arguments = {{DNNL_ARG_SRC, filled(*e, pd.src_desc(), &in[0])},
                 {DNNL_ARG_DIFF_DST, filled(*e, pd.diff_dst_desc(), &in[1])},
                 {DNNL_ARG_DIFF_WEIGHTS, filled(*e, pd.diff_weights_desc())}};
  }
  return [e, s, work, arguments, threads, in] {
    const martello::ThreadCount scope(threads);
    work.execute(*s, arguments);
  };
}

}  // namespace bench
