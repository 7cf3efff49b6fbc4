#pragma once
#include <martello/graph/kernel.h>
#include <martello/graph/tensor.h>

#include <optional>
#include <span>
#include <vector>

namespace martello {

namespace cpu {
struct Formula;
}

// Names of inputs or outputs in order. A last name that ends in "..." takes any number.
struct NameList {
  const char* names[8] = {};
  int size() const;
  bool is_variadic() const;
};

// What a shape function sees. Dimensions may be unknown.
struct ShapeContext {
  OpInfo op;
  std::span<const TensorSpec> in;
  const Attrs* attributes = nullptr;
  // Elements of small integer inputs as far as they are known: sizes, kUnknown or symbols; null when nothing is known.
  std::span<const std::vector<int64_t>* const> values = {};

  template <class A>
  const A& attrs() const {
    return attributes->get<A>();
  }
  const std::vector<int64_t>* value(size_t i) const { return i < values.size() ? values[i] : nullptr; }
  std::string where() const { return op.where(); }
  // Throws unless input i has one of these properties; texts name the node, the input and both values.
  void check_rank(size_t i, int rank) const;
  void check_floating(size_t i) const;
  void check_dtype(size_t i, DType dtype) const;
  void check_same_dtype(size_t i, size_t j) const;
  int check_axis(size_t i, int axis) const;  // the axis as a number in [0, rank)
};

// Differentiates bodies of ops with subgraphs; implemented by autodiff.
class GradientBuilder {
 public:
  virtual ~GradientBuilder() = default;
  // d(ys)/d(xs) with dys, in the current graph; null where unconnected.
  virtual TensorList gradients(const TensorList& ys, const TensorList& xs, const TensorList& dys) const = 0;
};

// What a gradient function sees. It returns one Tensor per input, null where there is none; un-broadcasting and summing
// over uses are not its business.
struct GradContext {
  OpInfo op;
  const Attrs* attributes = nullptr;
  TensorList inputs, outputs, grads;  // a grad is null when nothing depends on that output
  std::vector<bool> needed;           // which inputs need a gradient
  const GradientBuilder* builder = nullptr;

  Tensor input(size_t i) const { return inputs[i]; }
  Tensor output(size_t i) const { return outputs[i]; }
  Tensor grad(size_t i) const { return grads[i]; }
  template <class A>
  const A& attrs() const {
    return attributes->get<A>();
  }
};

// What running a node does beside computing its outputs.
enum class Effect : uint8_t {
  none,      // pure: may be merged, folded, dropped, run in any order
  variable,  // the variable itself; its output is the value at the start of the run
  read,      // reads a variable where control edges put it
  write,     // writes its targets in the update phase
  host,      // acts outside the graph (print, assert_that, host_call): never merged or folded, runs once per run
  feed,      // value comes from outside (placeholder, arg)
};

// How the run-time size of dimension 0 passes through an op when it depends on data.
enum class Rows : uint8_t {
  refused,  // the op needs sizes known before the run
  same,     // the output has as many rows as the inputs that depend on data
  reduced,  // takes any number of rows; its output does not depend on it
  made,     // the op decides: its outputs state the bound
};

struct InPlacePair {
  int input = -1;
  int output = -1;
};

// Inputs of an optimizer's update that should lie side by side: variables (or slots) in one arena, their gradients,
// when given, at the same offsets in the lane's arena.
struct FlatGroup {
  static constexpr int kNone = -1;  // in place of a gradient that lies nowhere
  std::vector<int> variables;
  std::vector<int> gradients = {};
};

// Floating-point operations and bytes moved, for thread counts and reports.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

// A node on images whose channels come first, [N, C, H, W], as the same node on images whose channels come last.
struct ChannelsLast {
  Attrs attrs = {};
  std::vector<int> inputs = {}, outputs = {};  // which are such images
  int sizes = -1;      // the first of the inputs that are left out, because the attributes have those sizes
  bool gains = false;  // enough that images are turned for it
};

// An op as data. Make one constant per op; nothing registers itself.
struct OpDef {
  const char* name = nullptr;
  const char* doc = "";
  NameList inputs = {};
  NameList outputs = {};
  const AttrsType* attrs = nullptr;  // &attrs_type<SoftmaxAttrs>; needed to read the op back from text
  std::vector<TensorSpec> (*shape)(const ShapeContext&) = nullptr;
  // One Tensor per input; `not_differentiable` is a statement.
  TensorList (*gradient)(const GradContext&) = nullptr;
  KernelFn cpu = nullptr;
  KernelFn cuda = nullptr;
  // Known elements of output 0, a small integer tensor (shape, stack, slices of them ...).
  std::optional<std::vector<int64_t>> (*value)(const ShapeContext&) = nullptr;
  const cpu::Formula* formula = nullptr;  // element-wise: y[i] = formula(x[i], ...), with broadcasting
  std::vector<double> (*formula_parameters)(const Attrs&) = nullptr;  // p0, p1 of the formula
  std::array<InPlacePair, 4> in_place = {};  // output may take the memory of a dead input of the same size
  bool is_alias = false;                     // output 0 is input 0 with another shape: no work, same bytes
  Effect effect = Effect::none;
  // Inputs that are the variables a write op writes, given the number of inputs.
  std::vector<int> (*targets)(const Attrs&, int inputs) = nullptr;
  bool is_overwrite = false;  // a write that does not depend on the old value (assign)
  std::vector<FlatGroup> (*flat_groups)(const Attrs&, int inputs) = nullptr;
  int counter_input = -1;  // a random op: which input is its counter variable; advanced in the update phase
  Rows rows = Rows::refused;
  // Where it depends on attributes, shapes or the input (transpose keeps rows only with perm[0] == 0): how the rows of
  // this input pass. Decides instead of `rows`.
  Rows (*rows_of)(const ShapeContext&, size_t input) = nullptr;
  bool has_rows_by_position = false;  // output i has the rows of input i, whatever the other inputs have
  bool broadcasts = false;            // an input of one row, or of fewer dimensions, is repeated beside the others
  Cost (*cost)(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) = nullptr;
  // Precision::bf16. The attributes with which inputs 0 and 1 of this node are bf16 while sums and outputs stay f32;
  // none where it has no such kernel or would gain nothing. An op without the function always computes in f32.
  std::optional<Attrs> (*widened)(const KernelPlan& plan) = nullptr;
  // The attributes with which output 0 is written as bf16, rounded as `cast` does; none where it cannot be.
  std::optional<Attrs> (*narrowed)(const KernelPlan& plan) = nullptr;
  // None where the node is not about images with channels first. The results are the same up to rounding.
  std::optional<ChannelsLast> (*channels_last)(std::span<const TensorSpec> in, std::span<const TensorSpec> out,
                                               const Attrs&) = nullptr;
  const char* family = "";       // heading in docs/ops.md
  bool stateful = false;         // a user's op that must not be merged or folded
  bool is_pass_through = false;  // acts, and its output is its input: left out where a value is computed again
};

// `.gradient = not_differentiable`: gradients() refuses a path through the op.
TensorList not_differentiable(const GradContext&);
// `.gradient = no_gradient`: a constant as far as gradients go (shape, zeros_like): the path ends silently.
TensorList no_gradient(const GradContext&);

// Adds a node to the current graph. Numbers become constants of the dtype of the first numeric Tensor operand. The
// shape function runs at once; its errors show the user's line.
Operation add_operation(const OpDef& def, const std::vector<Operand>& in, Attrs attrs, Name name);
TensorList outputs_of(Operation op);
template <class A = NoAttrs>
Tensor add_op(const OpDef& def, const std::vector<Operand>& in, A attrs, Name name) {
  return Tensor(add_operation(def, in, Attrs(std::move(attrs)), name), 0);
}
inline Tensor add_op(const OpDef& def, const std::vector<Operand>& in, Name name) {
  return Tensor(add_operation(def, in, Attrs(), name), 0);
}

// For text, import and export of graphs that use a user's op; ours are known.
void register_op(const OpDef& def);
const OpDef* find_op(std::string_view name);
std::vector<const OpDef*> all_ops();  // core, built-in and registered ones, sorted by name

// The built-in ops: a list written by the martello_op lines of ops/CMakeLists.txt and defined there (a test of graph/
// alone defines its own), so that nothing registers itself at start-up.
std::span<const OpDef* const> builtin_ops();

}  // namespace martello
