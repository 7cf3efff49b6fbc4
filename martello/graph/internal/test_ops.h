#pragma once
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/subgraph.h>

// Ops for the tests of this folder, which link no others.
namespace martello::testing {

enum class Mode { same, valid, odd_name };
std::vector<std::string> enum_names(Mode);

// One field of each type that attributes may have.
struct EveryAttrs {
  bool flag = true;
  int count = 3;
  int64_t big = -1;
  double scale = 0.5;
  std::string text = "plain";
  DType dtype = f32;
  Shape shape = {2, 3};
  std::vector<int> ints = {1};
  std::vector<int64_t> longs = {};
  std::vector<double> reals = {};
  HostTensor value = {};
  Subgraph body = {};
  HostFunction function = {};
  Mode mode = Mode::same;
  bool operator==(const EveryAttrs& o) const;
  static void fields(auto& self, auto&& f) {
    f("flag", self.flag);
    f("count", self.count);
    f("big", self.big);
    f("scale", self.scale);
    f("text", self.text);
    f("dtype", self.dtype);
    f("shape", self.shape);
    f("ints", self.ints);
    f("longs", self.longs);
    f("reals", self.reals);
    f("value", self.value);
    f("body", self.body);
    f("function", self.function);
    f("mode", self.mode);
  }
};

struct HalvesAttrs {
  int axis = 0;
  bool operator==(const HalvesAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("axis", self.axis); }
};

extern const OpDef op_twice, op_sum, op_halves, op_every, op_call, op_cell, op_store;

Tensor twice(Operand x, Name name = "twice");                                // the shape of x
Tensor sum(Operand a, Operand b, Name name = "sum");                         // shapes must agree
TensorList halves(Operand x, HalvesAttrs attrs = {}, Name name = "halves");  // two outputs
Tensor every(EveryAttrs attrs, Name name = "every");                         // attrs.dtype, attrs.shape
Tensor call(const BuiltSubgraph& body, const TensorList& args, Name name = "call");
Tensor cell(Shape shape, Name name = "cell");                      // a variable
Operation store(Tensor cell, Operand value, Name name = "store");  // writes it

}  // namespace martello::testing
