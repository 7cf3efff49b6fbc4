#pragma once
#include <martello/models/layer.h>
#include <martello/models/opt.h>
#include <martello/ops/data_format.h>

// Layers made of layers.
namespace martello {

// Channels (a, b, c, d, e, f) in 2 groups become (a, d, b, e, c, f), so that the groups of the next convolution see
// all.
Tensor channel_shuffle(Tensor x, int groups, DataFormat data_format = DataFormat::nhwc, Name name = "channel_shuffle");

struct SqueezeExcite {
  Opt<int> ratio = unset(16);  // channels per unit of the bottleneck
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("ratio", self.ratio...);
    f("data_format", self.data_format...);
  }
};
// Every channel scaled by a number in (0, 1) that follows from the means of all channels. Variables: fc1/*, fc2/*.
LayerOutput squeeze_excite(std::string_view name, Tensor x, SqueezeExcite options = {},
                           SourceLine line = SourceLine::current());

// Where a residual block normalizes: after each convolution and, with the shortcut, activates at its end; or before
// (names of variables: preact/bn). `pre_first` is `pre` for an x that is activated already.
enum class ResidualOrder { post, pre, pre_first };

// Where shapes differ: a 1 x 1 convolution, or the mean of 2 x 2 pixels with zero channels around.
enum class ResidualShortcut { projection, pool_and_pad };

// Of residual_basic and residual_bottleneck.
struct Residual {
  Opt<int> filters = unset(0);  // of the inner convolutions
  Opt<int> stride = unset(1);
  Opt<int> groups = unset(1);  // of the 3 x 3 convolution of a bottleneck
  Opt<ResidualOrder> order = unset(ResidualOrder::post);
  Opt<ResidualShortcut> shortcut = unset(ResidualShortcut::projection);
  Opt<int> squeeze_ratio = unset(0);   // of squeeze_excite before the sum; 0: none
  Opt<bool> zero_gamma = unset(true);  // in order `post` a block starts as its shortcut
  Opt<DataFormat> data_format = unset(DataFormat::nhwc);
  static void fields(auto&& f, auto&... self) {
    f("filters", self.filters...);
    f("stride", self.stride...);
    f("groups", self.groups...);
    f("order", self.order...);
    f("shortcut", self.shortcut...);
    f("squeeze_ratio", self.squeeze_ratio...);
    f("zero_gamma", self.zero_gamma...);
    f("data_format", self.data_format...);
  }
};
// Two 3 x 3 convolutions and a shortcut. Variables: conv1/W, conv1/bn/*, conv2/*, convshortcut/*, se/*. Windows are
// padded alike on all sides.
LayerOutput residual_basic(std::string_view name, Tensor x, Residual options = {},
                           SourceLine line = SourceLine::current());
// 1 x 1, 3 x 3 (with the stride) and 1 x 1 to four times the filters.
LayerOutput residual_bottleneck(std::string_view name, Tensor x, Residual options = {},
                                SourceLine line = SourceLine::current());

}  // namespace martello
