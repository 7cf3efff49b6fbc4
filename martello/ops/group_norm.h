#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

// Normalization of each sample by groups of channels, x [N, C] or a batch of images. gamma and beta: one number per
// channel.
namespace martello {

struct GroupNormAttrs {
  int64_t groups = 32;  // channels side by side form a group; 0: each channel is one
  double epsilon = 1e-5;
  DataFormat data_format = DataFormat::nhwc;
  bool operator==(const GroupNormAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("groups", self.groups);
    f("epsilon", self.epsilon);
    f("data_format", self.data_format);
  }
};
// y = gamma (x - mean) / sqrt(variance + epsilon) + beta, moments over the pixels and channels of a group.
Tensor group_norm(Operand x, Operand gamma, Operand beta, GroupNormAttrs attrs = {}, Name name = "group_norm");
Tensor group_norm(Operand x, Operand gamma, Operand beta, Name name);
extern const OpDef op_group_norm;

struct InstanceNormAttrs {
  double epsilon = 1e-5;
  DataFormat data_format = DataFormat::nhwc;
};
// Each channel of each sample by itself: group_norm with as many groups as channels.
Tensor instance_norm(Operand x, Operand gamma, Operand beta, InstanceNormAttrs attrs = {}, Name name = "instance_norm");
Tensor instance_norm(Operand x, Operand gamma, Operand beta, Name name);

// dx, dgamma, dbeta of group_norm, whose mean and variance these are.
TensorList group_norm_grad(Operand x, Operand gamma, Operand mean, Operand variance, Operand dy,
                           GroupNormAttrs attrs = {}, Name name = "group_norm_grad");
extern const OpDef op_group_norm_grad;

}  // namespace martello
