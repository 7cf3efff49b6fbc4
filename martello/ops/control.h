#pragma once
#include <martello/graph/op_def.h>
#include <martello/graph/subgraph.h>

#include <string>
#include <vector>

// Ops that act outside the graph, once in each run that needs them. An error in one leaves every variable as it was:
// they run while the run computes, before anything is written.
namespace martello {

// Calls `fn` with the values of `inputs`; it returns one tensor for each of `outputs`. Runs of several threads may call
// it at once. An unknown dimension of an output is one of an input: take it from x.shape(), or leave the first one
// kUnknown for the first dimension of the first input. Not differentiable.
//   host_call({image}, {{{kUnknown}, i32, "label"}}, [](const HostTensors& in) { return HostTensors{lookup(in[0])}; });
TensorList host_call(const TensorList& inputs, const std::vector<TensorSpec>& outputs, HostFunction fn,
                     Name name = "host_call");
TensorList host_call(const TensorList& inputs, const std::vector<TensorSpec>& outputs, HostFunction::Fn fn,
                     Name name = "host_call");

struct PrintAttrs {
  std::string message = {};
  int64_t first_n = -1;    // only the first runs of a plan write; -1: all
  int64_t summarize = 16;  // elements shown; -1: all
  bool operator==(const PrintAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("message", self.message);
    f("first_n", self.first_n);
    f("summarize", self.summarize);
  }
};
// x itself; writes its dtype, shape and first elements to the log.
Tensor print(Operand x, PrintAttrs attrs = {}, Name name = "print");

struct AssertAttrs {
  std::string message = {};
  bool operator==(const AssertAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("message", self.message); }
};
// The run fails with `message` and the values of `data` unless every element of `condition` is true. Nothing waits for
// it unless it is fetched or a control dependency.
Operation assert_that(Operand condition, std::string message, const TensorList& data = {}, Name name = "assert_that");

struct PlaceholderWithDefaultAttrs {
  Shape shape;
  bool operator==(const PlaceholderWithDefaultAttrs&) const = default;
  static void fields(auto& self, auto&& f) { f("shape", self.shape); }
};
// x unless a run feeds another value. Feeds must fit `shape`, in which dimensions may be unknown; without it the shape
// of x.
Tensor placeholder_with_default(Operand x, Shape shape, Name name = "placeholder_with_default");
Tensor placeholder_with_default(Operand x, Name name = "placeholder_with_default");

// The outputs of a host_call: each size a number, or a dimension of an input.
struct HostCallAttrs {
  HostFunction fn;
  std::vector<int> dtypes;     // of each output
  std::vector<int> ranks;      // of each output
  std::vector<int64_t> sizes;  // of all outputs; -1: see `inputs`, `axes`
  std::vector<int> inputs, axes;
  bool operator==(const HostCallAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("fn", self.fn);
    f("dtypes", self.dtypes);
    f("ranks", self.ranks);
    f("sizes", self.sizes);
    f("inputs", self.inputs);
    f("axes", self.axes);
  }
};
extern const OpDef op_host_call, op_print, op_assert_that, op_placeholder_with_default;

}  // namespace martello
