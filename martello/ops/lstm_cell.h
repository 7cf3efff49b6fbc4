#pragma once
#include <martello/graph/op_def.h>

namespace martello {

struct LstmAttrs {
  double forget_bias = 1;
  bool operator==(const LstmAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("forget_bias", self.forget_bias); }
};
struct LstmState {
  Tensor h, c;
};
// One step of an LSTM after its matmul. z [..., 4 units] holds the gates i, j, f, o side by side, c [..., units] is the
// state before:
//   c' = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j),  h' = tanh(c') sigmoid(o)
LstmState lstm_cell(Operand z, Operand c, LstmAttrs attrs = {}, Name name = "lstm_cell");
extern const OpDef op_lstm_cell;

// Gradients of z and c. `gates` are the activated gates, a further output of lstm_cell.
struct LstmCellGrads {
  Tensor dz, dc;
};
LstmCellGrads lstm_cell_grad(Operand gates, Operand c, Operand next_c, Operand dh, Operand dnext_c,
                             Name name = "lstm_cell_grad");
extern const OpDef op_lstm_cell_grad;

}  // namespace martello
