#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>

namespace martello {

struct Dropout {
  Opt<double> rate = unset(0.5);     // the part that is dropped
  Opt<bool> training = unset(true);  // unset: what the tower does
  static void fields(auto&& f, auto&... self) {
    f("rate", self.rate...);
    f("training", self.training...);
  }
};
// In training x / (1 - rate), or 0 with probability `rate`; else x. The result is named `<scope>/dropout`.
LayerOutput dropout(std::string_view name, Tensor x, Dropout options = {}, SourceLine line = SourceLine::current());

}  // namespace martello
