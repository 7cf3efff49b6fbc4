#pragma once
#include <martello/graph/op_def.h>
#include <martello/tensor/host_tensor.h>

// The few ops that a graph itself needs: where values come from.
namespace martello {

struct ConstantAttrs {
  HostTensor value;
  bool operator==(const ConstantAttrs& o) const { return value.same_bits(o.value); }
  static void fields(auto& self, auto&& f) { f("value", self.value); }
};
struct PlaceholderAttrs {
  Shape shape;
  DType dtype = f32;
  bool operator==(const PlaceholderAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("shape", self.shape);
    f("dtype", self.dtype);
  }
};

extern const OpDef op_constant;     // a HostTensor
extern const OpDef op_placeholder;  // fed by the caller of a run
extern const OpDef op_arg;          // an input of a subgraph
extern const OpDef op_group;        // does nothing, after its control inputs

Tensor constant(HostTensor value, Name name = "const");
Tensor constant(double value, Name name = "const");  // f32 scalar
Tensor placeholder(Shape shape, DType dtype, Name name);
// Done when all of them are.
Operation group(const std::vector<Operation>& ops, Name name = "group");

}  // namespace martello
