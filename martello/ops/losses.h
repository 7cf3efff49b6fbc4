#pragma once
#include <martello/graph/op_def.h>

// Losses. Predictions and targets have one shape, or the target is a number: nothing is broadcast, since a loss of
// [N, 1] against [N] is a mistake. sparse_softmax_cross_entropy() has a header of its own; l2_loss() is in norms.h.
namespace martello {

struct SoftmaxCrossEntropyAttrs {
  double label_smoothing = 0;  // s in [0, 1]: labels become (1 - s) labels + s / classes
};
// loss = -sum(labels * log(softmax(logits))) along the last axis; labels are probabilities: [..., classes] -> [...].
Tensor softmax_cross_entropy(Operand logits, Operand labels, SoftmaxCrossEntropyAttrs attrs = {},
                             Name name = "cross_entropy");
Tensor softmax_cross_entropy(Operand logits, Operand labels, Name name);

// loss = -label log(p) - (1 - label) log(1 - p) with p = sigmoid(logits), element by element.
Tensor sigmoid_cross_entropy(Operand logits, Operand label, Name name = "sigmoid_cross_entropy");
extern const OpDef op_sigmoid_cross_entropy;
// The same with `positive_weight` (a number, or a tensor that broadcasts) times the first part.
Tensor weighted_sigmoid_cross_entropy(Operand logits, Operand label, Operand positive_weight,
                                      Name name = "weighted_sigmoid_cross_entropy");

enum class LossReduction { mean, sum, none };  // `none`: one loss per element

struct HuberLossAttrs {
  double delta = 1;
  LossReduction reduction = LossReduction::mean;
};
// d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2); d = prediction - target.
Tensor huber_loss(Operand prediction, Operand target, HuberLossAttrs attrs = {}, Name name = "huber_loss");
Tensor huber_loss(Operand prediction, Operand target, Name name);

struct L1LossAttrs {
  LossReduction reduction = LossReduction::mean;
};
// |prediction - target|.
Tensor l1_loss(Operand prediction, Operand target, L1LossAttrs attrs = {}, Name name = "l1_loss");
Tensor l1_loss(Operand prediction, Operand target, Name name);

// mean((prediction - target)^2).
Tensor mean_squared_error(Operand prediction, Operand target, Name name = "mean_squared_error");

}  // namespace martello
