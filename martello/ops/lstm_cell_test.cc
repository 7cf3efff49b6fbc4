#include <martello/graph/core_ops.h>
#include <martello/ops/internal/naive_lstm.h>
#include <martello/ops/lstm_cell.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors naive_cell(const HostTensors& in, double forget_bias) {
  const int64_t units = in[1].shape()[-1];
  HostTensor h(in[1].shape(), f64), c(in[1].shape(), f64);
  for (int64_t i = 0; i < in[1].num_elements(); ++i) {
    const auto z = [&](int64_t gate) { return in[0].at((i / units * 4 + gate) * units + i % units); };
    const NaiveCell cell = naive_lstm_cell(z(0), z(1), z(2), z(3), in[1].at(i), forget_bias);
    h.set(i, cell.h);
    c.set(i, cell.c);
  }
  return {h, c};
}

OpCase cell_row(std::string label, Shape state, double forget_bias = 1) {
  Shape z = state;
  z = z.with(z.rank() - 1, 4 * state[-1]);
  return {.label = std::move(label),
          .inputs = {randn(z), randn(state, 2)},
          .build =
              [=](TensorList in) {
                const LstmState s = lstm_cell(in[0], in[1], {.forget_bias = forget_bias});
                return TensorList{s.h, s.c};
              },
          .reference = [=](const HostTensors& in) { return naive_cell(in, forget_bias); },
          .second_order = true};
}

OpCase output_row(std::string label, int output) {
  OpCase c = cell_row(std::move(label), {3, 5});
  c.build = [=](TensorList in) {
    const LstmState s = lstm_cell(in[0], in[1]);
    return TensorList{output == 0 ? s.h : s.c};
  };
  c.reference = [=](const HostTensors& in) { return HostTensors{naive_cell(in, 1)[static_cast<size_t>(output)]}; };
  return c;
}

OpCase large_gates() {
  OpCase c = cell_row("large gates", {2, 2});
  c.inputs[0] = HostTensor::of<double>({90, -90, 800, -800, 30, -30, 5, 2, 1e4, -1e4, 3, -3, 0, 0, 1, -1}, {2, 8});
  c.gradient = false;
  return c;
}

HostTensors naive_cell_grad(const HostTensors& in) {
  const int64_t units = in[1].shape()[-1];
  HostTensor dz(in[0].shape(), f64), dc(in[1].shape(), f64);
  for (int64_t i = 0; i < dc.num_elements(); ++i) {
    const auto gate_at = [=](int64_t gate) { return (i / units * 4 + gate) * units + i % units; };
    double gates[4];
    for (int64_t gate = 0; gate < 4; ++gate) gates[gate] = in[0].at(gate_at(gate));
    const auto d = naive_lstm_cell_grad(gates, in[1].at(i), in[2].at(i), in[3].at(i), in[4].at(i));
    for (int64_t gate = 0; gate < 4; ++gate) dz.set(gate_at(gate), d.z[gate]);
    dc.set(i, d.c);
  }
  return {dz, dc};
}

OpCase grad_row(std::string label, const Shape& state) {
  const Shape gates = state.with(state.rank() - 1, 4 * state[-1]);
  return {.label = std::move(label),
          .inputs = {uniform(gates, 0.1, 0.9), randn(state, 2), randn(state, 3), randn(state, 4), randn(state, 5)},
          .build =
              [](TensorList in) {
                const auto d = lstm_cell_grad(in[0], in[1], in[2], in[3], in[4]);
                return TensorList{d.dz, d.dc};
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

const OpTestRows cell_rows("lstm_cell", __FILE__, __LINE__, rows_of([](std::string label, const Shape& state) {
                             return cell_row(std::move(label), state);
                           }));
const OpTestRows grad_rows("lstm_cell_grad", __FILE__, __LINE__, rows_of(grad_row));

}  // namespace

OP_TEST(lstm_cell, cell_row("few units", {3, 5}), cell_row("one unit", {7, 1}), cell_row("one row", {1, 33}),
        cell_row("many", {70, 37}, 0), cell_row("vector", {19}), cell_row("rank six", {2, 1, 3, 1, 2, 3}, -1),
        cell_row("no rows", {0, 4}), cell_row("no units", {3, 0}), output_row("h alone", 0), output_row("c alone", 1),
        large_gates());
OP_TEST(lstm_cell_grad, grad_row("vector", {19}), grad_row("rank six", {2, 1, 3, 1, 2, 3}));

OP_REFUSES(lstm_cell, gates_of_other_units,
           [] {
             lstm_cell(placeholder({2, 21}, f32, "z"), placeholder({2, 5}, f32, "c"), {}, "cell");
           },
           {"[lstm_cell 'cell']", "21", "4 times the 5"})
OP_REFUSES(lstm_cell, another_number_of_rows,
           [] {
             lstm_cell(placeholder({3, 20}, f32, "z"), placeholder({2, 5}, f32, "c"));
           },
           {"lstm_cell", "[3]", "[2]"})
OP_REFUSES(lstm_cell, other_dtypes,
           [] {
             lstm_cell(placeholder({2, 20}, f32, "z"), placeholder({2, 5}, f64, "c"));
           },
           {"lstm_cell", "f32[2, 20]", "f64[2, 5]"})
OP_REFUSES(lstm_cell, integers,
           [] {
             lstm_cell(placeholder({2, 20}, i32, "z"), placeholder({2, 5}, i32, "c"));
           },
           {"lstm_cell", "i32", "f32, f64"})
OP_REFUSES(lstm_cell, scalars, [] { lstm_cell(placeholder({}, f32, "z"), placeholder({}, f32, "c")); },
           {"lstm_cell", "[]", "at least 1"})
OP_REFUSES(lstm_cell, sizes_beyond_numbers,
           [] {
             lstm_cell(placeholder({2, 8}, f32, "z"), placeholder({2, int64_t{1} << 62}, f32, "c"));
           },
           {"lstm_cell"})

}  // namespace martello::testing
