#pragma once
#include <martello/ops/gru_sequence.h>

// Layers of GRU cells over sequences. Gates lie in the order r, u, n.
namespace martello {

struct GruWeights {
  Tensor w_x;  // [inputs, 3 units]
  Tensor b_x;  // [3 units]
  Tensor w_h;  // [units, 3 units]
  Tensor b_h;  // [3 units]
};

// One step: x [rows, inputs] and the state before give the state after. For loops of your own; a whole sequence is
// much faster through gru().
Tensor gru_step(Operand x, Tensor h, const GruWeights& weights, Name name = "gru_step");

struct GruOptions {
  bool is_time_major = false;  // x [steps, rows, inputs] instead of [rows, steps, inputs]
  Tensor lengths = {};         // [rows], i32 or i64: y is 0 and the state stays past them
};
// One layer over all steps; y lies as x does. A null state is 0.
GruSequence gru(Operand x, const GruWeights& weights, Tensor first = {}, const GruOptions& options = {},
                Name name = "gru");

}  // namespace martello
