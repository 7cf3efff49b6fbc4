#pragma once
#include <martello/kernel/cpu/onednn.h>

namespace martello::onednn {

// A convolution and its two gradients. Images are {batch, channels, height, width}, weights {out, in, height, width} or
// {groups, out, in, height, width}; bias {out} or null, forward only: see adds_bias_last(). Two tensors are multiplied,
// in f32 or bf16; the third is f32.
struct ConvDesc {
  enum class Kind : uint8_t { forward, backward_data, backward_weights };
  Kind kind = Kind::forward;
  Layout x, weights, y;
  Layout bias = {};
  DType factors = f32;
  Layout factor_x = {};  // x in the dtype of the factors, where backward_data computes another
  std::vector<int64_t> stride, dilation, before, after;  // height, width; dilation 1 is none
  std::string implementation = {};                       // "brgconv:avx512_core"; the library's first when empty
};

// Roles: src, weights, bias, dst; diff_dst, weights, diff_src; src, diff_dst, diff_weights. Null where the library has
// no implementation for these sizes and layouts. Creation is tied to the thread count, as execution is.
Primitive make_convolution(const OpInfo& op, const ConvDesc& desc, int threads);

// Whether its bias has the bits of a later addition. Other implementations begin their sums with it.
bool adds_bias_last(const Primitive& convolution);

// Names of the implementations that the library offers, its own choice first; left out are plain reference code and
// what is known to be wrong (Notes [Narrow strided pixels], [Gradients of bf16 kernels]).
std::vector<std::string> convolution_implementations(const OpInfo& op, const ConvDesc& desc, int threads);

// What weights of layout `any` would become, without making the primitive; null where make_convolution() gives null.
Layout convolution_weights(const OpInfo& op, const ConvDesc& desc, int threads);

}  // namespace martello::onednn
