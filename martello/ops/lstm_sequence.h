#pragma once
#include <martello/ops/lstm_cell.h>

namespace martello {

struct LstmSequence {
  Tensor y;         // h of every step [steps, rows, units]; 0 past a row's length
  LstmState state;  // after each row's last step
};
// All steps of one LSTM layer: z[t] = x[t] + h w through lstm_cell(), h of the step before. x [steps, rows, 4 units] is
// what the layer's input adds to the gates, computed for all steps at once (matmul and bias); w [units, 4 units];
// `first` is the state before. `lengths` [rows], i32 or i64, when given: the state of a row stays as it was after that
// many steps. A length beyond the steps is an error of the run.
LstmSequence lstm_sequence(Operand x, Operand w, LstmState first, LstmAttrs attrs = {}, Name name = "lstm_sequence");
LstmSequence lstm_sequence(Operand x, Operand w, LstmState first, Tensor lengths, LstmAttrs attrs = {},
                           Name name = "lstm_sequence");
extern const OpDef op_lstm_sequence;

// The gradient of the gates of all steps, backward through time, and of the first state.
extern const OpDef op_lstm_sequence_grad;

}  // namespace martello
