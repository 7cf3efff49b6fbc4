#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/ops/optimizer_update.h>
#include <martello/ops/variable.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

using namespace testing;

Variable make(const char* name, Tensor like, Initializer init) {
  return get_variable(name, {.shape = like.shape(), .dtype = like.dtype(), .initializer = init, .trainable = false});
}

UpdateGroup group_of(const TensorList& grads, int slots) {
  UpdateGroup group;
  group.slots.resize(static_cast<size_t>(slots));
  for (size_t i = 0; i < grads.size(); ++i) {
    group.gradients.push_back(grads[i]);
    group.variables.push_back(make(str("w", i).c_str(), grads[i], ones()));
    for (int s = 0; s < slots; ++s)
      group.slots[static_cast<size_t>(s)].push_back(make(str("s", s, "_", i).c_str(), grads[i], constant_init(0.5)));
  }
  return group;
}

// All variables after one update from w = 1 and slots 0.5, with the inputs as gradients.
template <class Update>
Build after(int slots, Update update) {
  return [slots, update](TensorList grads) {
    const UpdateGroup group = group_of(grads, slots);
    ControlDependencies done({update(group)});
    TensorList values;
    for (const Variable& v : group.variables) values.push_back(read_variable(v));
    for (const auto& slot : group.slots)
      for (const Variable& v : slot) values.push_back(read_variable(v));
    return values;
  };
}

HostTensors map_all(const HostTensors& grads, const std::vector<std::function<double(double)>>& results) {
  HostTensors all;
  for (const auto& f : results)
    for (const HostTensor& g : grads)
      all.push_back(map_elements(
          {g}, [&](const std::vector<double>& x) { return f(x[0]); }, g.dtype()));
  return all;
}

OpCase momentum_case(std::string label, HostTensors grads, bool nesterov) {
  return {.label = std::move(label),
          .inputs = std::move(grads),
          .build = after(1,
                         [nesterov](const UpdateGroup& g) {
                           return momentum_update(0.1, g, {.momentum = 0.9, .nesterov = nesterov});
                         }),
          .reference =
              [nesterov](const HostTensors& in) {
                const auto m = [](double g) { return 0.9 * 0.5 + g; };
                const auto w = [=](double g) { return 1 - 0.1 * (nesterov ? g + 0.9 * m(g) : m(g)); };
                return map_all(in, {w, m});
              },
          .gradient = false,
          .unknown_shapes = false};
}

OpCase adam_case(std::string label, HostTensors grads) {
  return {.label = std::move(label),
          .inputs = std::move(grads),
          .build = after(2,
                         [](const UpdateGroup& g) {
                           const Variable step =
                               get_variable("step", {.dtype = i64, .initializer = zeros(), .trainable = false});
                           return adam_update(0.1, step, g, {.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-2});
                         }),
          .reference =
              [](const HostTensors& in) {
                const auto m = [](double g) { return 0.8 * 0.5 + 0.2 * g; };
                const auto v = [](double g) { return 0.9 * 0.5 + 0.1 * g * g; };
                const auto w = [=](double g) {
                  return 1 - 0.1 * std::sqrt(1 - 0.9) / (1 - 0.8) * m(g) / (std::sqrt(v(g)) + 1e-2);
                };
                return map_all(in, {w, m, v});
              },
          .gradient = false,
          .unknown_shapes = false};
}

OP_TEST(momentum_update, momentum_case("one", {randn({7})}, false), momentum_case("nesterov", {randn({7})}, true),
        momentum_case("a group", {randn({3, 5}), randn({}), randn({0}), randn({17000})}, false),
        momentum_case("a nesterov group", {randn({40000}), randn({2, 2, 2})}, true));
OP_TEST(adam_update, adam_case("one", {randn({7})}),
        adam_case("a group", {randn({3, 5}), randn({}), randn({0}), randn({17000})}));

OP_REFUSES(momentum_update, a_gradient_of_another_shape,
           [] {
             UpdateGroup g = group_of({placeholder({3}, f32, "g")}, 1);
             g.gradients[0] = placeholder({4}, f32, "h");
             momentum_update(0.1, g);
           },
           {"momentum_update", "[3]", "[4]"})
OP_REFUSES(momentum_update, a_rate_that_is_no_scalar,
           [] { momentum_update(placeholder({2}, f32, "rate"), group_of({placeholder({3}, f32, "g")}, 1)); },
           {"momentum_update", "[2]", "scalar"})
OP_REFUSES(adam_update, a_missing_slot,
           [] {
             const Variable step = get_variable("step", {.dtype = i64, .initializer = zeros(), .trainable = false});
             adam_update(0.1, step, group_of({placeholder({3}, f32, "g")}, 1));
           },
           {"adam_update", "inputs"})

}  // namespace
}  // namespace martello
