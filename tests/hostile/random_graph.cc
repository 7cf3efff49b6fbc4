#include "random_graph.h"

#include <algorithm>
#include <memory>

namespace martello::testing {
namespace {

constexpr double kMostBytes = 4 << 20;
constexpr int kAttemptsPerOp = 12;

bool is_left_out(const OpDef& op) {
  // Host functions may do anything; `arg` belongs into bodies; variables are made by raw_variable().
  const std::string_view name = op.name;
  return name == "host_call" || name == "arg" || name == "variable" || name == "placeholder" || name == "assert_that";
}

std::vector<const OpDef*> usable_ops() {
  std::vector<const OpDef*> list;
  for (const OpDef* op : all_ops())
    if (!is_left_out(*op)) list.push_back(op);
  return list;
}

}  // namespace

RandomGraph::RandomGraph(uint64_t number) : dice_(number) {
  static constexpr DType kUsual[] = {f32, f32, f64, i32, i64, boolean, u8};
  usual_ = dice_.of(std::span(kUsual));
  for (int64_t n = 2 + dice_.below(3); n > 0; --n) add_input();
  for (int64_t n = 3 + dice_.below(10); n > 0; --n) add_node();
  if (dice_.one_in(2)) add_gradients();
  if (has_gradients_ && dice_.one_in(4)) add_gradients();  // of gradients
  choose_fetches();
}

Shape RandomGraph::any_shape() {
  static constexpr int64_t kSizes[] = {1, 2, 3, 3, 4, 5, 0, 17};
  std::vector<int64_t> dims;
  for (int64_t rank = dice_.below(5); rank > 0; --rank) dims.push_back(dice_.of(std::span(kSizes)));
  return Shape(dims);
}

void RandomGraph::add_input() {
  const Shape shape = tensors_.empty() || dice_.one_in(2) ? any_shape() : last_shape_;
  const DType dtype = dice_.one_in(3) ? any_dtype(dice_) : usual_;
  last_shape_ = shape;
  const HostTensor value = dice_.one_in(4) ? hostile_value(shape, dtype, dice_) : tame_value(shape, dtype, dice_);
  if (dice_.one_in(4)) {
    tensors_.push_back(constant(value, "constant"));
  } else if (dice_.one_in(3)) {
    variables_.push_back(raw_variable(
        "v", {.shape = shape, .dtype = dtype, .initializer = constant_init(value), .trainable = is_floating(dtype)}));
    tensors_.push_back(variables_.back());
  } else {
    std::vector<int64_t> dims = shape.symbolic();
    for (int64_t& d : dims) d = dice_.one_in(4) ? kUnknown : d;
    tensors_.push_back(placeholder(Shape(dims), dtype, "x"));
    feeds_.push_back({tensors_.back(), value});
  }
  inputs_.push_back(tensors_.back());
}

Tensor RandomGraph::any_tensor() {
  const auto size = static_cast<int64_t>(tensors_.size());
  const int64_t back = dice_.one_in(2) ? dice_.below(std::min<int64_t>(size, 3)) : dice_.below(size);
  return tensors_[static_cast<size_t>(size - 1 - back)];
}

Tensor RandomGraph::any_floating() {
  const Tensor t = any_tensor();
  return t.dtype() == f32 || t.dtype() == f64 ? t : cast(t, dice_.one_in(2) ? f32 : f64);
}

Variable RandomGraph::any_variable() {
  MARTELLO_CHECK(!variables_.empty(), "[random_graph] has no variables");
  return dice_.of(variables_);
}

void RandomGraph::add(const TensorList& made) {
  for (const Tensor& t : made) tensors_.push_back(t);
}

void RandomGraph::add_node() {
  static const auto ops = usable_ops();
  const DeviceScope device(dice_.one_in(10) ? "cpu:1" : "");
  std::vector<Operation> after;
  if (!operations_.empty() && dice_.one_in(4)) after.push_back(operations_.back());
  if (dice_.one_in(16)) after.push_back(any_tensor().op());
  const ControlDependencies order(after);
  if (dice_.one_in(3) && try_builder()) return;
  const OpDef& op = *dice_.of(ops);
  for (int i = 0; i < kAttemptsPerOp; ++i)
    if (try_op(op)) return;
}

bool RandomGraph::try_builder() try {
  dice_.of(random_builders())(*this);
  check_size();
  return true;
} catch (const InternalError&) {
  throw;
} catch (const Error&) {
  return false;
}

bool RandomGraph::try_op(const OpDef& op) try {
  const int64_t count = op.inputs.size() + (op.inputs.is_variadic() ? dice_.below(4) - 1 : 0);
  std::vector<Operand> in;
  for (int64_t i = 0; i < count; ++i) in.push_back(any_tensor());
  const Attrs attrs = make_attrs(op, dice_, dice_.one_in(3) ? Malice::none : Malice::some);
  const Operation made = add_operation(op, in, attrs, op.name);
  check_size();
  if (outputs_of(made).empty()) operations_.push_back(made);
  add(outputs_of(made));
  return true;
} catch (const InternalError&) {
  throw;
} catch (const Error&) {
  return false;
}

void RandomGraph::add_gradients() try {
  TensorList ys, xs;
  for (int64_t i = 0; i < 3; ++i)
    if (const Tensor y = any_tensor(); is_floating(y.dtype())) ys.push_back(y);
  for (const Tensor& x : inputs_)
    if (is_floating(x.dtype())) xs.push_back(x);
  if (ys.empty() || xs.empty()) return;
  add(gradients(ys, xs, {}, {GradientOptions::Unconnected::zeros}));
  has_gradients_ = true;
} catch (const InternalError&) {
  throw;
} catch (const Error&) {
}

void RandomGraph::choose_fetches() {
  std::vector<Fetch> list;
  for (int64_t i = 0; i < 4; ++i) list.push_back(any_tensor());
  if (!operations_.empty()) list.push_back(dice_.of(operations_));
  fetches_ = Fetches(list);
  check_size();
}

void RandomGraph::check_size() { is_large_ = is_large_ || largest_bytes(Graph::current()) > kMostBytes; }

}  // namespace martello::testing
