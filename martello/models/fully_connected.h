#pragma once
#include <martello/models/activation.h>
#include <martello/models/layer.h>
#include <martello/models/opt.h>

namespace martello {

struct FullyConnected {
  Opt<int> units = unset(0);
  Opt<Activation> activation = unset(Activation());
  Opt<bool> use_bias = unset(true);
  Opt<Initializer> kernel_init = unset(Initializer());  // he_normal()
  Opt<Initializer> bias_init = unset(Initializer());    // zeros()
  Opt<Regularizer> kernel_regularizer = unset(Regularizer());
  Opt<Regularizer> bias_regularizer = unset(Regularizer());
  static void fields(auto&& f, auto&... self) {
    f("units", self.units...);
    f("activation", self.activation...);
    f("use_bias", self.use_bias...);
    f("kernel_init", self.kernel_init...);
    f("bias_init", self.bias_init...);
    f("kernel_regularizer", self.kernel_regularizer...);
    f("bias_regularizer", self.bias_regularizer...);
  }
};
// activation(x W + b), with all dimensions of x but the first in one. Variables: W [in, units], b [units].
LayerOutput fully_connected(std::string_view name, Tensor x, FullyConnected options = {},
                            SourceLine line = SourceLine::current());

}  // namespace martello
