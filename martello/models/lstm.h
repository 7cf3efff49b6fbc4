#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/lstm.h>

#include <vector>

namespace martello {

struct Lstm {
  Opt<int> units = unset(0);
  Opt<int> layers = unset(1);
  Opt<double> forget_bias = unset(1.0);
  Opt<double> dropout = unset(0.0);  // of what each layer gives, in training
  Opt<bool> is_time_major = unset(false);
  Opt<Tensor> lengths = unset(Tensor());                // [rows]: steps of each sequence
  Opt<Initializer> kernel_init = unset(Initializer());  // glorot_uniform()
  static void fields(auto&& f, auto&... self) {
    f("units", self.units...);
    f("layers", self.layers...);
    f("forget_bias", self.forget_bias...);
    f("dropout", self.dropout...);
    f("is_time_major", self.is_time_major...);
    f("lengths", self.lengths...);
    f("kernel_init", self.kernel_init...);
  }
};
// Layers of LSTM cells over x [rows, steps, inputs]; y [rows, steps, units] is named `<scope>/output`. `first` has a
// state per layer, or is empty for zeros. Variables of layer i: layer<i>/Wx [inputs, 4 units], layer<i>/Wh [units,
// 4 units], layer<i>/b [4 units], gates in the order i, j, f, o.
LstmStack lstm(std::string_view name, Tensor x, Lstm options = {}, const std::vector<LstmState>& first = {},
               SourceLine line = SourceLine::current());

}  // namespace martello
