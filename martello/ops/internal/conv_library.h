#pragma once
#include <martello/kernel/cpu/onednn_conv.h>
#include <martello/ops/internal/conv_attrs.h>

namespace martello::internal {

// f32, or bf16 where the library computes in it, with something to compute, and no odd sizes; whether the library has
// an implementation is another question.
bool is_for_library(const ConvProblem& p);
// Whether factors in bf16 are faster than the fastest way in f32, if the library multiplies them like this.
bool gains_by_bf16(const ConvProblem& p, ConvDirection direction, onednn::Bf16 library = onednn::bf16_support());
onednn::ConvDesc library_conv(const ConvProblem& p, ConvDirection direction, const onednn::Layout& weights,
                              bool has_bias = false);

// The kernel as variables hold it, [height, width, in / groups, out].
onednn::Layout plain_kernel(const ConvProblem& p, DType dtype);
// As the library's implementation of that name (or its first) wants it for a convolution by this many threads; null
// when it has none for it.
onednn::Layout wanted_kernel(const OpInfo& op, const ConvProblem& p, ConvDirection direction, int threads,
                             const std::string& implementation = {});

// The copy of a plain kernel of this dtype into `packed`, or out of it for a gradient of the kernel.
onednn::Primitive kernel_reorder(const OpInfo& op, const ConvProblem& p, ConvDirection direction, DType plain,
                                 const onednn::Layout& packed, int threads);

// The layout of a packed kernel. Throws unless it has as many elements as when it was found.
onednn::Layout packed_kernel(const OpInfo& op, const ConvProblem& p, ConvDirection direction,
                             const KernelPacking& packing);
// How a convolution's kernel would be packed. Not packed when it needs no packing.
KernelPacking find_packing(const OpInfo& op, const ConvProblem& p, ConvDirection direction, int threads,
                           const std::string& implementation = {});
// The name of the candidate that is chosen to run a convolution whose kernel is not packed yet.
std::string chosen_convolution(const KernelPlan& plan, ConvDirection direction);
// find_packing() for the implementation that is chosen to run a convolution whose kernel is not packed yet.
KernelPacking choose_packing(const KernelPlan& plan, ConvDirection direction);

}  // namespace martello::internal
