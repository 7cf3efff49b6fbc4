#pragma once
#include <martello/ops/lstm_sequence.h>

#include <functional>
#include <vector>

// Layers of LSTM cells over sequences. Gates lie in the order i, j, f, o.
namespace martello {

struct LstmWeights {
  Tensor w_x;  // [inputs, 4 units]
  Tensor w_h;  // [units, 4 units]
  Tensor b;    // [4 units]
};

// One step: x [rows, inputs] and the state before give the state after. For loops of your own; a whole sequence is
// much faster through lstm().
LstmState lstm_step(Operand x, LstmState state, const LstmWeights& weights, LstmAttrs attrs = {},
                    Name name = "lstm_step");

struct LstmOptions {
  double forget_bias = 1;
  bool is_time_major = false;  // x [steps, rows, inputs] instead of [rows, steps, inputs]
  Tensor lengths = {};         // [rows], i32 or i64: y is 0 and the state stays past them
};
// One layer over all steps; y lies as x does. A null state is 0.
LstmSequence lstm(Operand x, const LstmWeights& weights, LstmState first = {}, const LstmOptions& options = {},
                  Name name = "lstm");

struct LstmStack {
  Tensor y;                       // of the last layer
  std::vector<LstmState> states;  // of each layer
};
// Layers over the outputs of the layer below. `first` has a state per layer or is empty. `on_output`, when given, is
// applied to what each layer gives: dropout.
//   auto [y, states] = lstm_stack(x, layers, {}, {.forget_bias = 0}, [](Tensor y) { return dropout(y); });
LstmStack lstm_stack(Operand x, const std::vector<LstmWeights>& layers, const std::vector<LstmState>& first = {},
                     const LstmOptions& options = {}, const std::function<Tensor(Tensor)>& on_output = {},
                     Name name = "lstm");

}  // namespace martello
