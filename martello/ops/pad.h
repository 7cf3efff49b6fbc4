#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/data_format.h>

#include <string>
#include <string_view>

namespace martello {

enum class PadMode {
  constant,   // 0 0 | a b c | 0 0
  reflect,    // c b | a b c | b a: the border is not repeated
  symmetric,  // b a | a b c | c b
};
std::string_view to_string(PadMode mode);
std::vector<std::string> enum_names(PadMode);

struct PadAttrs {
  std::vector<int64_t> before = {};
  std::vector<int64_t> after = {};
  PadMode mode = PadMode::constant;
  double value = 0;
  bool operator==(const PadAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("before", self.before);
    f("after", self.after);
    f("mode", self.mode);
    f("value", self.value);
  }
};
// x with before[i] and after[i] more elements at the ends of axis i.
Tensor pad(Operand x, PadAttrs attrs, Name name = "pad");
// Zeros before and after the channels: the last axis, or axis 1 with nchw.
Tensor pad_channels(Operand x, int64_t before, int64_t after, DataFormat data_format = DataFormat::nhwc,
                    Name name = "pad");
// What the padding of a mirroring pad() repeated is summed back: its gradient.
Tensor pad_grad(Operand dy, PadAttrs attrs, Name name = "pad_grad");

extern const OpDef op_pad, op_pad_grad;

}  // namespace martello
