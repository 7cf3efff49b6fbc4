#pragma once
#include <martello/graph/subgraph.h>
#include <martello/ops/axes.h>

// Chains of element-wise ops as one node, made by the fuse pass. The body is a subgraph of element-wise ops and scalar
// constants; its bits are those of the ops one by one.
namespace martello {

enum class FusedReduction { none, sum, mean, max, min, prod };
std::vector<std::string> enum_names(FusedReduction);

struct FusedAttrs {
  Subgraph body = {};
  FusedReduction reduction = FusedReduction::none;  // of the body's only output
  Axes axes = {};                                   // none: all
  bool keep_dims = false;
  bool operator==(const FusedAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("body", self.body);
    f("reduction", self.reduction);
    f("axes", self.axes);
    f("keep_dims", self.keep_dims);
  }
};
// Two definitions, because only without a reduction may an output take the memory of an input.
extern const OpDef op_fused, op_fused_reduce;

// Whether a node may be part of a body: it has a formula and computes in f32 or f64, beside bool; a cast from f32
// to bf16 may end one. Nodes of one body compute in one dtype.
bool is_fusable(const OpNode& node);
// The floating dtype that a fusable node computes in; nothing when it knows only bool, and goes with either.
std::optional<DType> find_computing_dtype(const OpNode& node);

// What one node can hold. Every output of a body has the shape to which all inputs broadcast.
inline constexpr int kMaxFusedNodes = 64, kMaxFusedInputs = 64, kMaxFusedOutputs = 32;

TensorList fused(const TensorList& xs, FusedAttrs attrs, Name name = "fused");

}  // namespace martello
