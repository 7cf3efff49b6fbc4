#pragma once
#include <martello/ops/gru_cell.h>

namespace martello {

struct GruSequence {
  Tensor y;  // h of every step [steps, rows, units]; 0 past a row's length
  Tensor h;  // after each row's last step
};
// All steps of one GRU layer: h[t] = gru_cell(x[t], h[t - 1] w + b, h[t - 1]). x [steps, rows, 3 units] is what the
// layer's input gives, computed for all steps at once; w [units, 3 units], b [3 units]; `first` [rows, units].
// `lengths` [rows], i32 or i64, when given: the state of a row stays as it was after that many steps. A length beyond
// the steps is an error of the run.
GruSequence gru_sequence(Operand x, Operand w, Operand b, Operand first, Name name = "gru_sequence");
GruSequence gru_sequence(Operand x, Operand w, Operand b, Operand first, Tensor lengths, Name name = "gru_sequence");
extern const OpDef op_gru_sequence;

// The gradients of x and of h w + b of all steps, backward through time, and of the first state.
extern const OpDef op_gru_sequence_grad;

}  // namespace martello
