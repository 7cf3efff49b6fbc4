#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/data_format.h>

// Normalization of each sample for itself: the same in training and inference. Variables: beta, gamma, [C].
namespace martello {

struct LayerNorm {
  Opt<double> epsilon = unset(1e-5);
  Opt<bool> center = unset(true);
  Opt<bool> scale = unset(true);
  Opt<Initializer> gamma_init = unset(Initializer());  // ones()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("epsilon", self.epsilon...);
    f("center", self.center...);
    f("scale", self.scale...);
    f("gamma_init", self.gamma_init...);
    f("data_format", self.data_format...);
  }
};
// Over all dimensions but the first of [N, C] or images; over the last of sequences [N, T, C].
LayerOutput layer_norm(std::string_view name, Tensor x, LayerNorm options = {},
                       SourceLine line = SourceLine::current());

struct InstanceNorm {
  Opt<double> epsilon = unset(1e-5);
  Opt<bool> center = unset(true);
  Opt<bool> scale = unset(true);
  Opt<Initializer> gamma_init = unset(Initializer());  // ones()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("epsilon", self.epsilon...);
    f("center", self.center...);
    f("scale", self.scale...);
    f("gamma_init", self.gamma_init...);
    f("data_format", self.data_format...);
  }
};
// Each channel of each image.
LayerOutput instance_norm(std::string_view name, Tensor x, InstanceNorm options = {},
                          SourceLine line = SourceLine::current());

struct GroupNorm {
  Opt<int> groups = unset(32);
  Opt<double> epsilon = unset(1e-5);
  Opt<bool> center = unset(true);
  Opt<bool> scale = unset(true);
  Opt<Initializer> gamma_init = unset(Initializer());  // ones()
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("groups", self.groups...);
    f("epsilon", self.epsilon...);
    f("center", self.center...);
    f("scale", self.scale...);
    f("gamma_init", self.gamma_init...);
    f("data_format", self.data_format...);
  }
};
// Each of `groups` equal parts of the channels of each image.
LayerOutput group_norm(std::string_view name, Tensor x, GroupNorm options = {},
                       SourceLine line = SourceLine::current());

}  // namespace martello
