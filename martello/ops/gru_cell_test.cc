#include <martello/graph/core_ops.h>
#include <martello/ops/gru_cell.h>
#include <martello/ops/internal/naive_gru.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

Shape per_unit(const Shape& state, int64_t n) { return state.with(state.rank() - 1, n * state[-1]); }

HostTensors naive_cell(const HostTensors& in) {
  const int64_t units = in[2].shape()[-1];
  HostTensor next(in[2].shape(), f64);
  for (int64_t i = 0; i < next.num_elements(); ++i) {
    double x[3], a[3];
    for (int64_t g = 0; g < 3; ++g) {
      const int64_t at = (i / units * 3 + g) * units + i % units;
      x[g] = in[0].at(at);
      a[g] = in[1].at(at);
    }
    next.set(i, naive_gru_cell(x, a, in[2].at(i)));
  }
  return {next};
}

OpCase cell_row(std::string label, const Shape& state) {
  return {.label = std::move(label),
          .inputs = {randn(per_unit(state, 3)), randn(per_unit(state, 3), 2), randn(state, 3)},
          .build = [](TensorList in) { return TensorList{gru_cell(in[0], in[1], in[2])}; },
          .reference = naive_cell,
          .second_order = true};
}

OpCase grad_row(const Shape& state) {
  return {.label = "rows",
          .inputs = {uniform(per_unit(state, 4), 0.1, 0.9), randn(state, 2), randn(state, 3)},
          .build =
              [](TensorList in) {
                const auto d = gru_cell_grad(in[0], in[1], in[2]);
                return TensorList{d.dx, d.da, d.dh};
              },
          .second_order = true};
}

}  // namespace

OP_TEST(gru_cell, cell_row("few units", {3, 5}), cell_row("one unit", {7, 1}), cell_row("one row", {1, 33}),
        cell_row("many", {70, 37}), cell_row("vector", {19}), cell_row("rank six", {2, 1, 3, 1, 2, 3}),
        cell_row("no rows", {0, 4}), cell_row("no units", {3, 0}));
OP_TEST(gru_cell_grad, grad_row({3, 5}), grad_row({2, 17}), grad_row({0, 4}));

OP_REFUSES(
    gru_cell, gates_of_other_units,
    [] {
      gru_cell(placeholder({2, 15}, f32, "x"), placeholder({2, 16}, f32, "a"), placeholder({2, 5}, f32, "h"), "cell");
    },
    {"[gru_cell 'cell']", "16", "3 times the 5"})
OP_REFUSES(gru_cell, another_number_of_rows,
           [] {
             gru_cell(placeholder({3, 15}, f32, "x"), placeholder({2, 15}, f32, "a"), placeholder({2, 5}, f32, "h"));
           },
           {"gru_cell", "[3]", "[2]"})
OP_REFUSES(gru_cell, integers,
           [] {
             gru_cell(placeholder({2, 15}, i32, "x"), placeholder({2, 15}, i32, "a"), placeholder({2, 5}, i32, "h"));
           },
           {"gru_cell", "i32", "f32, f64"})

}  // namespace martello::testing
