#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/initializers.h>
#include <martello/ops/sparse_optimizer_update.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

constexpr double kRate = 0.1;

// A table of ones and its slots of 0.5.
UpdateGroup table_of(const Shape& shape, DType dtype, UpdateRule rule) {
  const auto make = [&](const std::string& name, double value) {
    return get_variable(name,
                        {.shape = shape, .dtype = dtype, .initializer = constant_init(value), .trainable = false});
  };
  UpdateGroup group{.gradients = {}, .variables = {make("table", 1)}, .slots = {}};
  for (int s = 0; s < traits_of(rule).slots; ++s) group.slots.push_back({make(str("s", s), 0.5)});
  if (traits_of(rule).counts_steps)
    group.step = get_variable("step", {.dtype = i64, .initializer = zeros(), .trainable = false});
  return group;
}

// Rows with an index: the sum of their values, in order. Others: nothing happens.
HostTensors naive_momentum(const HostTensors& in, Shape shape, double momentum) {
  HostTensor w(shape, in[1].dtype()), m(shape, in[1].dtype());
  const int64_t inner = shape.num_elements(1, shape.rank());
  for (int64_t i = 0; i < w.num_elements(); ++i) {
    double g = 0;
    bool is_named = false;
    for (int64_t j = 0; j < in[0].num_elements(); ++j)
      if (static_cast<int64_t>(in[0].at(j)) == i / inner) {
        g += in[1].at(j * inner + i % inner);
        is_named = true;
      }
    m.set(i, is_named ? momentum * 0.5 + g : 0.5);
    w.set(i, is_named ? 1 - kRate * m.at(i) : 1);
  }
  return {w, m};
}

OpCase row(std::string label, HostTensor indices, HostTensor values, Shape table, double momentum) {
  const OptimizerUpdateAttrs a{.rule = UpdateRule::momentum, .momentum = momentum};
  return {.label = std::move(label),
          .inputs = {std::move(indices), std::move(values)},
          .build =
              [=](TensorList in) {
                const UpdateGroup group = table_of(table, in[1].dtype(), a.rule);
                ControlDependencies done({sparse_optimizer_update(kRate, in[0], in[1], group, a)});
                return TensorList{read_variable(group.variables[0]), read_variable(group.slots[0][0])};
              },
          .reference = [=](const HostTensors& in) { return naive_momentum(in, table, momentum); },
          .gradient = false,
          .unknown_shapes = false};
}

OP_TEST(sparse_optimizer_update, row("some rows", integers({9}, 0, 6, i32), randn({9, 4}), {6, 4}, 0.9),
        row("long rows", integers({5}, 0, 3, i64), randn({5, 700}), {3, 700}, 0.5),
        row("a vector", integers({40}, 0, 10, i64), randn({40}), Shape(10), 0.9),
        row("many", integers({3000}, 0, 1000, i32), randn({3000, 8}), {1000, 8}, 0.9),
        row("nothing", HostTensor(Shape(0), i32), randn({0, 3}), {4, 3}, 0.9),
        row("rank six", integers({4}, 0, 2, i32), randn({4, 1, 2, 1, 2, 3}), {2, 1, 2, 1, 2, 3}, 0.9));

OP_REFUSES(sparse_optimizer_update, a_rule_that_moves_every_row,
           [] {
             sparse_optimizer_update(0.1, placeholder({2}, i32, "i"), placeholder({2, 3}, f32, "v"),
                                     table_of({4, 3}, f32, UpdateRule::lamb), {.rule = UpdateRule::lamb});
           },
           {"lamb", "dense gradient"})
OP_REFUSES(sparse_optimizer_update, rows_of_another_width,
           [] {
             sparse_optimizer_update(0.1, placeholder({2}, i32, "i"), placeholder({2, 5}, f32, "v"),
                                     table_of({4, 3}, f32, UpdateRule::gradient_descent));
           },
           {"[2, 5]", "[4, 3]"})
OP_REFUSES(sparse_optimizer_update, indices_that_are_no_integers,
           [] {
             sparse_optimizer_update(0.1, placeholder({2}, f32, "i"), placeholder({2, 3}, f32, "v"),
                                     table_of({4, 3}, f32, UpdateRule::gradient_descent));
           },
           {"indices", "f32[2]"})

}  // namespace
}  // namespace martello
