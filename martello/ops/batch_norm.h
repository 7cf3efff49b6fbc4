#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

// Normalization by channel: x [N, C], or a batch of images. gamma, beta, mean and variance have one number per channel.
namespace martello {

struct BatchNormAttrs {
  double epsilon = 1e-5;
  DataFormat data_format = DataFormat::nhwc;
  bool relu = false;    // y = max(y, 0) in the same pass
  bool narrow = false;  // y, or dx of a gradient, is bf16; computed in f32 with channels last
  bool widen = false;   // x of training or of its gradient is bf16, all else f32; channels last
  bool operator==(const BatchNormAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("epsilon", self.epsilon);
    f("data_format", self.data_format);
    f("relu", self.relu);
    f("narrow", self.narrow);
    f("widen", self.widen);
  }
};

struct BatchNormResult {
  Tensor y, mean, variance;
};
// y = gamma (x - mean) / sqrt(variance + epsilon) + beta with mean and variance of this batch, the latter over all
// elements (biased), NaN of none.
BatchNormResult batch_norm_training(Operand x, Operand gamma, Operand beta, BatchNormAttrs attrs = {},
                                    Name name = "batch_norm");
BatchNormResult batch_norm_training(Operand x, Operand gamma, Operand beta, Name name);
// The same with a mean and a variance that are given. They have gradients too.
Tensor batch_norm_inference(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance,
                            BatchNormAttrs attrs = {}, Name name = "batch_norm");
Tensor batch_norm_inference(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Name name);
extern const OpDef op_batch_norm_training, op_batch_norm_inference;

// dx, dgamma, dbeta of batch_norm_training, whose mean and variance these are. With relu, y is computed once more.
TensorList batch_norm_training_grad(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Operand dy,
                                    BatchNormAttrs attrs = {}, Name name = "batch_norm_grad");
// dx, dgamma, dbeta, dmean, dvariance of batch_norm_inference.
TensorList batch_norm_inference_grad(Operand x, Operand gamma, Operand beta, Operand mean, Operand variance, Operand dy,
                                     BatchNormAttrs attrs = {}, Name name = "batch_norm_grad");
extern const OpDef op_batch_norm_training_grad, op_batch_norm_inference_grad;

}  // namespace martello
