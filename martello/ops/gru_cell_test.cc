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

HostTensors naive_cell_grad(const HostTensors& in) {
  const int64_t units = in[1].shape()[-1];
  HostTensor dx(per_unit(in[1].shape(), 3), f64), da = dx, dh(in[1].shape(), f64);
  for (int64_t i = 0; i < dh.num_elements(); ++i) {
    const int64_t row = i / units, unit = i % units;
    double gates[4];
    for (int64_t gate = 0; gate < 4; ++gate) gates[gate] = in[0].at((row * 4 + gate) * units + unit);
    const auto d = naive_gru_cell_grad(gates, in[1].at(i), in[2].at(i));
    for (int64_t gate = 0; gate < 3; ++gate) {
      dx.set((row * 3 + gate) * units + unit, d.x[gate]);
      da.set((row * 3 + gate) * units + unit, d.a[gate]);
    }
    dh.set(i, d.h);
  }
  return {dx, da, dh};
}

OpCase grad_row(std::string label, const Shape& state) {
  return {.label = std::move(label),
          .inputs = {uniform(per_unit(state, 4), 0.1, 0.9), randn(state, 2), randn(state, 3)},
          .build =
              [](TensorList in) {
                const auto d = gru_cell_grad(in[0], in[1], in[2]);
                return TensorList{d.dx, d.da, d.dh};
              },
          .reference = naive_cell_grad,
          .second_order = true};
}

// None, one and several rows of 1, 3 and 17 units.
std::vector<OpCase> rows_of(OpCase (*make)(std::string, const Shape&)) {
  std::vector<OpCase> list;
  for (const int64_t rows : {0, 1, 2, 3, 5, 8, 13})
    for (const int64_t units : {1, 3, 17}) list.push_back(make(str(rows, " of ", units), {rows, units}));
  return list;
}

const OpTestRows cell_rows("gru_cell", __FILE__, __LINE__, rows_of(cell_row));
const OpTestRows grad_rows("gru_cell_grad", __FILE__, __LINE__, rows_of(grad_row));

}  // namespace

OP_TEST(gru_cell, cell_row("few units", {3, 5}), cell_row("one unit", {7, 1}), cell_row("one row", {1, 33}),
        cell_row("many", {70, 37}), cell_row("vector", {19}), cell_row("rank six", {2, 1, 3, 1, 2, 3}),
        cell_row("no rows", {0, 4}), cell_row("no units", {3, 0}));
OP_TEST(gru_cell_grad, grad_row("vector", {19}), grad_row("rank six", {2, 1, 3, 1, 2, 3}));

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
