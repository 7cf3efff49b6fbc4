#include <martello/kernel/cpu/onednn_conv.h>
#include <martello/kernel/cpu/onednn_internal.h>

#include <algorithm>

namespace martello::onednn {
namespace {

using Dims = dnnl::memory::dims;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
constexpr auto kTraining = dnnl::prop_kind::forward_training;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

constexpr int64_t kWidestVector = 16;
constexpr const char* kBiasLast[] = {"brg", "jit:avx512_core", "jit_bf16:"};

// The library counts the zeros between two taps.
Dims gaps(const ConvDesc& d) {
  Dims dims;
  for (int64_t v : d.dilation) dims.push_back(v - 1);
  return dims;
}

template <class Use>
auto with_forward(const ConvDesc& d, const dnnl::memory::desc& w, const Use& use) {
  const auto &x = desc_of(d.factor_x.is_null() ? d.x : d.factor_x), &y = desc_of(d.y);
  const auto with = [&](const auto&... bias) {
    return with_desc<Forward>(use, engine(), attributes(), kTraining, kDirect, x, w, bias..., y, d.stride, gaps(d),
                              d.before, d.after);
  };
  return d.bias.is_null() ? with() : with(desc_of(d.bias));
}

// Gradients want the forward pass they belong to, whose own weights lie as they like.
Forward::primitive_desc hint(const ConvDesc& d) {
  const dnnl::memory::desc any(dims_of(desc_of(d.weights)), data_type(d.factors), dnnl::memory::format_tag::any);
  return with_forward(d, any, [](Forward::primitive_desc pd) { return pd; });
}

template <class P, class Use>
auto with_backward(const ConvDesc& d, const Use& use) {
  const auto &x = desc_of(d.x), &w = desc_of(d.weights), &y = desc_of(d.y);
  return with_gradient_desc<P>(use, engine(), attributes(), hint(d), kDirect, x, w, y, d.stride, gaps(d), d.before,
                               d.after);
}

// Note [Narrow strided pixels]: for gradients of weights with a window of one pixel and a stride, oneDNN 2.6 gathers
// the pixels that count, whole vectors of channels at a time. With fewer channels than a vector has it writes beyond
// its scratch, over other tensors or over the barrier that its threads wait at. Its other implementations are sound.
bool writes_beyond_scratch(const ConvDesc& d, int64_t channels) {
  const bool has_stride = std::any_of(d.stride.begin(), d.stride.end(), [](int64_t s) { return s > 1; });
  return has_stride && channels < kWidestVector;
}

// Whether all that a place of the window meets along the width is padding.
bool sees_padding_only(const ConvDesc& d, int64_t place) {
  const int64_t in = dims_of(desc_of(d.x))[3], out = dims_of(desc_of(d.y))[3];
  for (int64_t i = 0, at = place * d.dilation[1] - d.before[1]; i < out; ++i, at += d.stride[1])
    if (0 <= at && at < in) return false;
  return true;
}

// Note [Gradients of bf16 kernels]: for these oneDNN 2.6 has code that is wrong in two cases. With dilated rows and
// channels that do not fill vectors it reads and writes beyond its scratch. And it leaves alone what belongs to places
// of the window that see padding only, as in images that are narrower than the window. Others that it offers are sound.
bool is_wrong_in_bf16(const ConvDesc& d, const Dims& kernel, int64_t channels) {
  if (d.dilation[0] > 1 && channels % kWidestVector != 0) return true;
  for (int64_t place = 0; place < kernel.back(); ++place)
    if (sees_padding_only(d, place)) return true;
  return false;
}

bool is_sound(const ConvDesc& d, const std::string& implementation) {
  if (d.kind != ConvDesc::Kind::backward_weights) return true;
  const Dims kernel = dims_of(desc_of(d.weights));
  const int64_t channels = kernel[kernel.size() - 3];
  if (implementation.find("1x1") != std::string::npos) return !writes_beyond_scratch(d, channels);
  return implementation.find("jit_bf16") == std::string::npos || !is_wrong_in_bf16(d, kernel, channels);
}

bool is_wanted(const ConvDesc& d, const std::string& implementation) {
  return is_sound(d, implementation) && (d.implementation.empty() || d.implementation == implementation);
}

// The wanted implementation of those that the library offers.
template <class P>
auto selected(const ConvDesc& d) {
  return [&d](typename P::primitive_desc pd) {
    while (!is_wanted(d, pd.impl_info_str()))
      if (!pd.next_impl()) throw dnnl::error(dnnl_unimplemented, "no such implementation");
    return pd;
  };
}

std::vector<std::string> names_of(const ConvDesc& d, auto pd) {
  std::vector<std::string> names;
  do {
    const std::string name = pd.impl_info_str();
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_new && is_sound(d, name) && (names.empty() || name.find("ref") == std::string::npos)) names.push_back(name);
  } while (pd.next_impl());
  return names;
}

Primitive make_forward(const OpInfo& op, const ConvDesc& d, int threads) {
  return make_primitive<Forward>(op, "convolution_forward", threads, [&](Primitive::Impl& made) {
    auto pd = with_forward(d, desc_of(d.weights), selected<Forward>(d));
    made.descs = {{Role::src, pd.src_desc()}, {Role::weights, pd.weights_desc()}, {Role::dst, pd.dst_desc()}};
    if (!d.bias.is_null()) made.descs.emplace_back(Role::bias, pd.bias_desc());
    return pd;
  });
}

Primitive make_backward_data(const OpInfo& op, const ConvDesc& d, int threads) {
  return make_primitive<BackwardData>(op, "convolution_backward_data", threads, [&](Primitive::Impl& made) {
    auto pd = with_backward<BackwardData>(d, selected<BackwardData>(d));
    made.descs = {
        {Role::diff_dst, pd.diff_dst_desc()}, {Role::weights, pd.weights_desc()}, {Role::diff_src, pd.diff_src_desc()}};
    return pd;
  });
}

Primitive make_backward_weights(const OpInfo& op, const ConvDesc& d, int threads) {
  return make_primitive<BackwardWeights>(op, "convolution_backward_weights", threads, [&](Primitive::Impl& made) {
    auto pd = with_backward<BackwardWeights>(d, selected<BackwardWeights>(d));
    made.descs = {
        {Role::src, pd.src_desc()}, {Role::diff_dst, pd.diff_dst_desc()}, {Role::diff_weights, pd.diff_weights_desc()}};
    return pd;
  });
}

dnnl::memory::desc weights_desc(const ConvDesc& d) {
  switch (d.kind) {
    case ConvDesc::Kind::forward: return with_forward(d, desc_of(d.weights), selected<Forward>(d)).weights_desc();
    case ConvDesc::Kind::backward_data: return with_backward<BackwardData>(d, selected<BackwardData>(d)).weights_desc();
    default: return with_backward<BackwardWeights>(d, selected<BackwardWeights>(d)).diff_weights_desc();
  }
}

}  // namespace

std::vector<std::string> convolution_implementations(const OpInfo& op, const ConvDesc& d, int threads) try {
  const ThreadCount scope(threads);
  const auto names = [&](const auto& pd) { return names_of(d, pd); };
  switch (d.kind) {
    case ConvDesc::Kind::forward: return with_forward(d, desc_of(d.weights), names);
    case ConvDesc::Kind::backward_data: return with_backward<BackwardData>(d, names);
    default: return with_backward<BackwardWeights>(d, names);
  }
} catch (const dnnl::error& error) {
  if (error.status == dnnl_unimplemented) return {};
  rethrow(op, "convolution descriptor", error);
}

Layout convolution_weights(const OpInfo& op, const ConvDesc& d, int threads) try {
  const ThreadCount scope(threads);
  return make_layout(weights_desc(d));
} catch (const dnnl::error& error) {
  if (error.status == dnnl_unimplemented) return Layout();
  rethrow(op, "convolution descriptor", error);
}

bool adds_bias_last(const Primitive& convolution) {
  // Those that are known to; a test tries all that a machine has.
  const std::string name = convolution.implementation();
  return std::any_of(std::begin(kBiasLast), std::end(kBiasLast),
                     [&](const char* known) { return name.starts_with(str("oneDNN ", known)); });
}

Primitive make_convolution(const OpInfo& op, const ConvDesc& d, int threads) {
  if (convolution_weights(op, d, threads).is_null()) return Primitive();
  switch (d.kind) {
    case ConvDesc::Kind::forward: return make_forward(op, d, threads);
    case ConvDesc::Kind::backward_data: return make_backward_data(op, d, threads);
    default: return make_backward_weights(op, d, threads);
  }
}

}  // namespace martello::onednn
