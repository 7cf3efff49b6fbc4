#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>

// Layers that change values only. Ops without variables (relu, gelu ...) are in ops/activation.h.
namespace martello {

struct PReLU {
  Opt<double> init = unset(0.001);
  static void fields(auto&& f, auto&... self) { f("init", self.init...); }
};
// x where x > 0, else alpha x, with one variable `alpha`. The result is named `<scope>/prelu`.
LayerOutput prelu(std::string_view name, Tensor x, PReLU options = {}, SourceLine line = SourceLine::current());

// relu(batch_norm("bn", x)). As an activation its variables are those of the layer around it: conv1/bn/gamma; as a
// layer they are name/bn/gamma, and the result is named `<scope>/relu`.
Tensor bn_relu(Tensor x);
LayerOutput bn_relu(std::string_view name, Tensor x, SourceLine line = SourceLine::current());

struct Maxout {
  Opt<int> units = unset(0);
  static void fields(auto&& f, auto&... self) { f("units", self.units...); }
};
// The largest of each `units` channels side by side: [N, C] or [N, H, W, C] to C / units channels.
LayerOutput maxout(std::string_view name, Tensor x, Maxout options = {}, SourceLine line = SourceLine::current());

// x and others side by side along `axis`. The result is named `<scope>/concat`.
LayerOutput concat_with(std::string_view name, Tensor x, TensorList others, int axis,
                        SourceLine line = SourceLine::current());

}  // namespace martello
