#include "random_graph.h"

#include "hostile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace martello::testing {
namespace {

constexpr double kMostBytes = 4 << 20;
constexpr int kAttemptsPerOp = 12;

bool is_left_out(const OpDef& op) {
  // Host functions may do anything; `arg` belongs into bodies; a variable is made by raw_variable().
  const std::string_view name = op.name;
  return name == "host_call" || name == "arg" || name == "variable" || name == "placeholder" || name == "assert_that";
}

std::vector<const OpDef*> usable_ops() {
  std::vector<const OpDef*> list;
  for (const OpDef* op : all_ops())
    if (!is_left_out(*op)) list.push_back(op);
  return list;
}

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t number) : dice_(number) {
    static constexpr DType kUsual[] = {f32, f32, f64, i32, i64, boolean, u8};
    usual_ = dice_.of(std::span(kUsual));
    for (int64_t n = 2 + dice_.below(3); n > 0; --n) add_input();
    for (int64_t n = 3 + dice_.below(10); n > 0; --n) add_node();
    if (dice_.one_in(2)) add_gradients();
    choose_fetches();
  }

  const Fetches& fetches() const { return fetches_; }
  const Feeds& feeds() const { return feeds_; }
  bool has_gradients() const { return has_gradients_; }

 private:
  Shape any_shape() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 3, 4, 5, 0, 17};
    std::vector<int64_t> dims;
    for (int64_t rank = dice_.below(5); rank > 0; --rank) dims.push_back(dice_.of(std::span(kSizes)));
    return Shape(dims);
  }
  DType some_dtype() { return dice_.one_in(3) ? any_dtype(dice_) : usual_; }

  void add_input() {
    const Shape shape = tensors_.empty() || dice_.one_in(2) ? any_shape() : last_shape_;
    const DType dtype = some_dtype();
    last_shape_ = shape;
    const HostTensor value = dice_.one_in(4) ? hostile_value(shape, dtype, dice_) : tame_value(shape, dtype, dice_);
    if (dice_.one_in(4)) {
      tensors_.push_back(constant(value, "constant"));
    } else if (dice_.one_in(4)) {
      tensors_.push_back(
          raw_variable("v", {.shape = shape, .dtype = dtype, .initializer = constant_init(value), .trainable = false}));
    } else {
      std::vector<int64_t> dims = shape.symbolic();
      for (int64_t& d : dims) d = dice_.one_in(4) ? kUnknown : d;
      tensors_.push_back(placeholder(Shape(dims), dtype, "x"));
      feeds_.push_back({tensors_.back(), value});
    }
    inputs_.push_back(tensors_.back());
  }

  // Often one of the last, so that chains form.
  Tensor any_tensor() {
    const auto size = static_cast<int64_t>(tensors_.size());
    const int64_t back = dice_.one_in(2) ? dice_.below(std::min<int64_t>(size, 3)) : dice_.below(size);
    return tensors_[static_cast<size_t>(size - 1 - back)];
  }

  void add_node() {
    static const auto ops = usable_ops();
    const OpDef& op = *dice_.of(ops);
    for (int i = 0; i < kAttemptsPerOp; ++i)
      if (try_op(op)) return;
  }

  bool try_op(const OpDef& op) try {
    const int named = op.inputs.size();
    const auto count = named + (op.inputs.is_variadic() ? dice_.below(4) - 1 : 0);
    std::vector<Operand> in;
    for (int64_t i = 0; i < count; ++i) in.push_back(any_tensor());
    const Attrs attrs = make_attrs(op, dice_, dice_.one_in(3) ? Malice::none : Malice::some);
    const Operation made = add_operation(op, in, attrs, op.name);
    if (largest_bytes(Graph::current()) > kMostBytes) is_large_ = true;
    if (outputs_of(made).empty()) operations_.push_back(made);
    for (const Tensor& t : outputs_of(made)) tensors_.push_back(t);
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return false;
  }

  void add_gradients() try {
    TensorList ys, xs;
    for (int64_t i = 0; i < 3; ++i)
      if (const Tensor y = any_tensor(); is_floating(y.dtype())) ys.push_back(y);
    for (const Tensor& x : inputs_)
      if (is_floating(x.dtype())) xs.push_back(x);
    if (ys.empty() || xs.empty()) return;
    for (const Tensor& g : gradients(ys, xs, {}, {GradientOptions::Unconnected::zeros})) tensors_.push_back(g);
    has_gradients_ = true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
  }

  void choose_fetches() {
    std::vector<Fetch> list;
    for (int64_t i = 0; i < 4; ++i) list.push_back(any_tensor());
    if (!operations_.empty()) list.push_back(operations_.back());
    fetches_ = Fetches(list);
    is_large_ = is_large_ || largest_bytes(Graph::current()) > kMostBytes;
  }

 public:
  bool is_large() const { return is_large_; }

 private:
  Dice dice_;
  DType usual_ = f32;
  Shape last_shape_;
  std::vector<Tensor> tensors_, inputs_;
  std::vector<Operation> operations_;
  Fetches fetches_;
  Feeds feeds_;
  bool has_gradients_ = false, is_large_ = false;
};

// The bits of a NaN depend on the order of operands, which compilers may choose.
bool same_values(const HostTensor& a, const HostTensor& b) {
  if (a.same_bits(b)) return true;
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape()) || !is_floating(a.dtype())) return false;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.at(i), y = b.at(i);
    if (!(std::isnan(x) && std::isnan(y)) && (x != y || std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

struct Outcome {
  bool is_value = false;
  HostTensors values;
};

Outcome run(const std::string& what, const RandomGraph& graph, SessionOptions options) {
  Outcome outcome;
  outcome.is_value = ends_well(what, [&] {
    Session session(Graph::current(), std::move(options));
    outcome.values = session.run(graph.fetches(), graph.feeds());
  });
  return outcome;
}

void compare(const std::string& what, const RandomGraph& graph, const Outcome& fused, const Outcome& plain) {
  ASSERT_EQ(fused.is_value, plain.is_value) << what << "\nonly one of fused and unfused gave values\n"
                                            << Graph::current().text();
  for (size_t i = 0; i < fused.values.size(); ++i) {
    const Fetch& fetch = graph.fetches().list()[i];
    ASSERT_TRUE(same_values(fused.values[i], plain.values[i]))
        << what << "\nfused and unfused differ in " << (fetch.tensor().is_null() ? "" : fetch.tensor().name()) << "\n  "
        << fused.values[i].str() << "\n  " << plain.values[i].str() << "\n"
        << Graph::current().text();
  }
}

int64_t number_from(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

}  // namespace

void run_random_graph(uint64_t number, RandomGraphCounts& counts) {
  const std::string what = str("random graph ", number);
  GraphScope scope;
  std::unique_ptr<RandomGraph> graph;
  if (!ends_well("building " + what, [&] { graph = std::make_unique<RandomGraph>(number); })) return;
  ++counts.graphs;
  if (graph->is_large()) return;
  const int threads = number % 8 == 0 ? 2 : 1;
  const Outcome fused =
      run("fused, " + what, *graph, {.threads = threads, .always_parallel = true, .poison_arena = true});
  const Outcome plain =
      run("unfused, " + what, *graph, {.threads = threads, .disabled_passes = {"fuse"}, .always_parallel = true});
  compare(what, *graph, fused, plain);
  counts.ran += fused.is_value;
  counts.differentiated += fused.is_value && graph->has_gradients();
}

RandomGraphCounts run_random_graphs(int64_t count) {
  logger::set_level(logger::Level::error);
  RandomGraphCounts counts;
  const int64_t first = number_from("MARTELLO_RANDOM_FIRST", 0),
                last = first + number_from("MARTELLO_RANDOM_GRAPHS", count);
  for (int64_t number = first; number < last && !::testing::Test::HasFatalFailure(); ++number)
    run_random_graph(static_cast<uint64_t>(number), counts);
  return counts;
}

}  // namespace martello::testing
