#include <martello/models/lstm.h>

#include <martello/base/error.h>
#include <martello/models/arg_scope.h>
#include <martello/models/internal/training.h>
#include <martello/ops/dropout.h>
#include <martello/ops/initializers.h>

namespace martello {
namespace {

std::vector<LstmWeights> make_weights(LayerScope& layer, int64_t inputs, DType dtype, const Lstm& o) {
  const int64_t units = *o.units;
  const Initializer init = *o.kernel_init ? *o.kernel_init : glorot_uniform();
  std::vector<LstmWeights> list;
  for (int i = 0; i < *o.layers; ++i, inputs = units) {
    const std::string name = str("layer", i, "/");
    list.push_back({layer.variable(name + "Wx", {.shape = {inputs, 4 * units}, .dtype = dtype, .initializer = init}),
                    layer.variable(name + "Wh", {.shape = {units, 4 * units}, .dtype = dtype, .initializer = init}),
                    layer.variable(name + "b", {.shape = {4 * units}, .dtype = dtype, .initializer = zeros()})});
  }
  return list;
}

void check_options(const LayerScope& layer, const Lstm& o, size_t states) {
  layer.check_positive("units", *o.units);
  layer.check_positive("layers", *o.layers);
  MARTELLO_CHECK(*o.dropout >= 0 && *o.dropout < 1, layer.where(), "dropout is ", *o.dropout,
                 ": it is the part that is dropped, at least 0 and below 1.");
  MARTELLO_CHECK(states == 0 || states == static_cast<size_t>(*o.layers), layer.where(), "has ", *o.layers,
                 " layers but was given ", states, " states. Give one per layer, or none.");
}

}  // namespace

LstmStack lstm(std::string_view name, Tensor x, Lstm options, const std::vector<LstmState>& first, SourceLine line) {
  const Lstm o = with_arg_scope(std::move(options));
  LstmStack stack;
  stack.y = build_layer({.type = "lstm", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    layer.check_rank(x, {3});
    check_options(layer, o, first.size());
    const auto weights = make_weights(layer, layer.known_dim(x, 2, "inputs of a step"), x.dtype(), o);
    std::function<Tensor(Tensor)> on_output;
    if (*o.dropout > 0 && internal::tower_of(layer).is_training())
      on_output = [rate = *o.dropout](Tensor y) { return dropout(y, {.rate = rate}); };
    stack = lstm_stack(x, weights, first,
                       {.forget_bias = *o.forget_bias, .is_time_major = *o.is_time_major, .lengths = *o.lengths},
                       on_output);
    return stack.y;
  });
  return stack;
}

}  // namespace martello
