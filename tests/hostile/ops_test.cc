// Every op with inputs and attributes that it was not made for.
#include "hostile.h"

#include <martello/graph/node.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

constexpr double kMostBytes = 64 << 20;
constexpr int64_t kTwo31 = int64_t{1} << 31, kTwo32 = int64_t{1} << 32, kTwo62 = int64_t{1} << 62;

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{},
                                          Shape(0),
                                          Shape(1),
                                          Shape(3),
                                          {2, 3},
                                          {3, 3},
                                          {0, 3},
                                          {3, 0},
                                          {2, 0, 3},
                                          {0, 0},
                                          {1, 2, 3, 4},
                                          {1, 2, 1, 2, 1, 1, 2},
                                          {kTwo31},
                                          {kTwo32},
                                          {kTwo62},
                                          {kTwo31, 0},
                                          {kTwo62, 0},
                                          {kTwo31, kTwo31},
                                          {2, kTwo62},
                                          {kUnknown},
                                          {kUnknown, 3},
                                          {kUnknown, kUnknown, 2},
                                          {kTwo31, 2, 2, 2}};
  return list;
}

// One attempt: an op, where its inputs come from and what they are.
struct Attempt {
  const OpDef& op;
  std::vector<TensorSpec> inputs = {};
  bool are_variables = false;
  bool is_aliased = false;  // all inputs are one tensor
  Malice malice = Malice::none;
  uint64_t seed = 0;

  std::string str() const {
    std::string text = martello::str(op.name, " seed ", seed, " malice ", static_cast<int>(malice),
                                     are_variables ? " variables" : "", is_aliased ? " aliased" : "", ":");
    for (const TensorSpec& spec : inputs) text += " " + spec.str();
    return text;
  }
};

std::vector<Operand> make_inputs(const Attempt& a) {
  std::vector<Operand> in;
  for (const TensorSpec& spec : a.inputs) {
    if (a.is_aliased && !in.empty()) in.push_back(in[0]);
    else if (a.are_variables)
      in.push_back(
          raw_variable("v", {.shape = spec.shape, .dtype = spec.dtype, .initializer = zeros(), .trainable = false}));
    else in.push_back(placeholder(spec.shape, spec.dtype, "x"));
  }
  return in;
}

Shape without_unknowns(const Shape& shape) {
  std::vector<int64_t> dims = shape.without_symbols().symbolic();
  for (int64_t& d : dims) d = d < 0 ? 3 : d;
  return Shape(dims);
}

Feeds make_feeds(const Graph& graph, Dice& dice) {
  Feeds feeds;
  for (const Operation& op : graph.operations())
    if (std::string_view(op.type()) == "placeholder") {
      const Tensor t(op, 0);
      const Shape shape = without_unknowns(t.shape());
      feeds.push_back({t, dice.one_in(2) ? hostile_value(shape, t.dtype(), dice) : tame_value(shape, t.dtype(), dice)});
    }
  return feeds;
}

// Runs what is small, plans what is large when nothing of it has to be fed.
void use(Operation op, Dice& dice) {
  const Graph graph = Graph::current();
  Session session(graph, {.threads = dice.one_in(4) ? 2 : 1, .always_parallel = true, .poison_arena = true});
  const TensorList outputs = outputs_of(op);
  Fetches fetches = outputs.empty() ? Fetches(op) : Fetches(outputs);
  if (largest_bytes(graph) <= kMostBytes) session.run(fetches, make_feeds(graph, dice));
  else if (op.node()->inputs.empty()) session.memory_plan(fetches);
}

void differentiate(Operation op, Dice& dice) {
  TensorList ys, xs;
  for (const Tensor& y : outputs_of(op))
    if (is_floating(y.dtype())) ys.push_back(y);
  for (const Tensor& x : op.node()->inputs)
    if (is_floating(x.dtype())) xs.push_back(x);
  if (ys.empty() || xs.empty()) return;
  const TensorList grads = gradients(ys, xs, {}, {GradientOptions::Unconnected::zeros});
  const Graph graph = Graph::current();
  if (largest_bytes(graph) <= kMostBytes) Session(graph, {.threads = 1}).run(grads, make_feeds(graph, dice));
}

bool attempt(const Attempt& a) {
  Dice dice(a.seed);
  GraphScope scope;
  Operation op;
  const bool is_built = ends_well("building " + a.str(), [&] {
    op = add_operation(a.op, make_inputs(a), make_attrs(a.op, dice, a.malice), "node");
  });
  if (!is_built) return false;
  ends_well("using " + a.str(), [&] { use(op, dice); });
  ends_well("differentiating " + a.str(), [&] { differentiate(op, dice); });
  ends_well("printing " + a.str(), [&] { parse_graph(Graph::current().text()); });
  return true;
}

class HostileOp : public ::testing::TestWithParam<const OpDef*> {
 protected:
  void SetUp() override { logger::set_level(logger::Level::error); }
  const OpDef& op() const { return *GetParam(); }
  int named() const { return op().inputs.size(); }
  int most_inputs() const { return named() + (op().inputs.is_variadic() ? 2 : 0); }
  int fewest_inputs() const { return named() - (op().inputs.is_variadic() ? 1 : 0); }
  std::vector<TensorSpec> any_inputs(Dice& dice, int64_t count) const {
    std::vector<TensorSpec> in;
    const DType common = any_dtype(dice);
    const Shape& shape = dice.of(shapes());
    for (int64_t i = 0; i < count; ++i)
      in.push_back({dice.one_in(2) ? shape : dice.of(shapes()), dice.one_in(3) ? any_dtype(dice) : common});
    return in;
  }
};

TEST_P(HostileOp, takes_every_shape_and_dtype) {
  for (int count = fewest_inputs(); count <= most_inputs(); ++count)
    for (const Shape& shape : shapes())
      for (int d = 0; d < kDTypes; ++d) {
        const std::vector<TensorSpec> in(static_cast<size_t>(count), {shape, static_cast<DType>(d)});
        attempt({.op = op(), .inputs = in, .is_aliased = d % 2 == 0, .seed = static_cast<uint64_t>(d)});
        if (count == 0) return;
      }
}

TEST_P(HostileOp, takes_another_number_of_inputs) {
  for (int count = 0; count <= named() + 2; ++count)
    for (DType dtype : {f32, i64, boolean})
      attempt({.op = op(), .inputs = std::vector<TensorSpec>(static_cast<size_t>(count), {{2, 3}, dtype})});
}

TEST_P(HostileOp, takes_any_inputs_and_attributes) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed);
    const int count = fewest_inputs() + static_cast<int>(dice.below(most_inputs() - fewest_inputs() + 1));
    attempt({.op = op(),
             .inputs = any_inputs(dice, count),
             .is_aliased = dice.one_in(6),
             .malice = seed % 3 == 0 ? Malice::all : Malice::some,
             .seed = seed});
  }
}

TEST_P(HostileOp, takes_variables) {
  const Shape small[] = {{}, {3}, {2, 3}, {0, 3}, {2}};
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    std::vector<TensorSpec> in;
    const DType dtype = any_dtype(dice);
    const Shape shape = dice.of(std::span(small));
    for (int i = 0; i < most_inputs(); ++i) in.push_back({shape, dice.one_in(4) ? any_dtype(dice) : dtype});
    attempt({.op = op(),
             .inputs = in,
             .are_variables = true,
             .malice = seed < 20 ? Malice::none : Malice::some,
             .seed = seed});
  }
}

std::string op_name(const ::testing::TestParamInfo<const OpDef*>& info) { return info.param->name; }

INSTANTIATE_TEST_SUITE_P(all, HostileOp, ::testing::ValuesIn(all_ops()), op_name);

}  // namespace
}  // namespace martello::testing
