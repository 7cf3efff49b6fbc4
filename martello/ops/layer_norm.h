#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

namespace martello {

struct LayerNormAttrs {
  double epsilon = 1e-5;
  int begin_axis = -1;  // moments are over this axis and all after it
  DataFormat data_format = DataFormat::nhwc;
  bool operator==(const LayerNormAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("epsilon", self.epsilon);
    f("begin_axis", self.begin_axis);
    f("data_format", self.data_format);
  }
};
// y = gamma (x - mean) / sqrt(variance + epsilon) + beta. gamma and beta have one number per channel: per element of
// the last axis, or of axis 1 with nchw, which must be among those normalized. A layer of images: {.begin_axis = 1}.
Tensor layer_norm(Operand x, Operand gamma, Operand beta, LayerNormAttrs attrs = {}, Name name = "layer_norm");
Tensor layer_norm(Operand x, Operand gamma, Operand beta, Name name);
extern const OpDef op_layer_norm;

// dx, dgamma, dbeta of layer_norm, whose mean and variance these are.
TensorList layer_norm_grad(Operand x, Operand gamma, Operand mean, Operand variance, Operand dy,
                           LayerNormAttrs attrs = {}, Name name = "layer_norm_grad");
extern const OpDef op_layer_norm_grad;

}  // namespace martello
