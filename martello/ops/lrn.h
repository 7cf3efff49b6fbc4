#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

namespace martello {

struct LrnAttrs {
  int64_t radius = 5;  // of the channels on either side
  double bias = 1, alpha = 1, beta = 0.5;
  DataFormat data_format = DataFormat::nhwc;
};
// Local response normalization: x / (bias + alpha sum of x^2 over the channels around)^beta.
Tensor lrn(Operand x, LrnAttrs attrs = {}, Name name = "lrn");
Tensor lrn(Operand x, Name name);

struct ChannelWindowSumAttrs {
  int axis = -1;
  int64_t radius = 0;
  bool operator==(const ChannelWindowSumAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("axis", self.axis);
    f("radius", self.radius);
  }
};
// y[i] = x[i - radius] + ... + x[i + radius] along `axis`; what lies outside counts as 0.
Tensor channel_window_sum(Operand x, ChannelWindowSumAttrs attrs, Name name = "channel_window_sum");
extern const OpDef op_channel_window_sum;

}  // namespace martello
