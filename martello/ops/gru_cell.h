#pragma once
#include <martello/graph/op_def.h>

namespace martello {

// One step of a GRU after its matmuls. x and a [..., 3 units] hold r, u, n side by side, from the input and from h:
//   r = sigmoid(x_r + a_r), u = sigmoid(x_u + a_u), n = tanh(x_n + r a_n), h' = u h + (1 - u) n
// The reset gate acts after the matmul, so that all gates share one.
Tensor gru_cell(Operand x, Operand a, Operand h, Name name = "gru_cell");
extern const OpDef op_gru_cell;

// Gradients of x, a and h. `gates` are r, u, n and a_n, a further output of gru_cell.
struct GruCellGrads {
  Tensor dx, da, dh;
};
GruCellGrads gru_cell_grad(Operand gates, Operand h, Operand dnext_h, Name name = "gru_cell_grad");
extern const OpDef op_gru_cell_grad;

}  // namespace martello
