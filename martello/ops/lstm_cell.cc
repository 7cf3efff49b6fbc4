#include <martello/base/checked.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/lstm_cell.h>
#include <martello/ops/split.h>

namespace martello {

Kernel lstm_cell_cpu(const KernelPlan&);
Kernel lstm_cell_grad_cpu(const KernelPlan&);

namespace {

using internal::check_gates;

TensorSpec like(const TensorSpec& spec) { return {.shape = spec.shape, .dtype = spec.dtype}; }

std::vector<TensorSpec> cell_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  check_gates(c, 0, 1, 4);
  return {like(c.in[1]), like(c.in[1]), like(c.in[0])};
}

std::vector<TensorSpec> cell_grad_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  check_gates(c, 0, 1, 4);
  for (size_t i = 2; i < 5; ++i)
    internal::check_same_shape(c, "c", c.in[1].shape, input_name(c, i).c_str(), c.in[i].shape);
  return {like(c.in[0]), like(c.in[1])};
}

// What reaches z through the activated gates themselves: dgates of sigmoids and of one tanh.
Tensor through_gates(Tensor gates, Tensor dgates) {
  const auto [i, j, f, o] = split(gates, 4, -1).unpack<4>();
  return dgates * concat({i * (1 - i), 1 - j * j, f * (1 - f), o * (1 - o)}, -1);
}

TensorList cell_gradient(const GradContext& c) {
  const auto given = [&](size_t i) { return c.grad(i).is_null() ? zeros_like(c.output(i)) : c.grad(i); };
  const auto d = lstm_cell_grad(c.output(2), c.input(1), c.output(1), given(0), given(1));
  return {c.grad(2).is_null() ? d.dz : d.dz + through_gates(c.output(2), c.grad(2)), d.dc};
}

// See lstm_cell_isa.cc.
TensorList cell_grad_of_primitives(const TensorList& in) {
  const auto [i, j, f, o] = split(in[0], 4, -1).unpack<4>();
  const Tensor c = in[1], t = tanh(in[2]), dh = in[3], d = in[4] + dh * o * (1 - t * t);
  const TensorList dz = {d * j * i * (1 - i), d * i * (1 - j * j), d * c * f * (1 - f), dh * t * o * (1 - o)};
  return {concat(dz, -1), d * f};
}

Cost cell_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  double count = 0;
  for (auto list : {in, out})
    for (const TensorSpec& t : list) count += static_cast<double>(t.shape.num_elements());
  return {.flops = 20 * count, .bytes = count * static_cast<double>(size_of(in[0].dtype))};
}

}  // namespace

constinit const OpDef op_lstm_cell = {
    .name = "lstm_cell",
    .doc = "c' = c sigmoid(f + forget_bias) + sigmoid(i) tanh(j), h' = tanh(c') sigmoid(o), z = [i, j, f, o]",
    .inputs = {"z", "c"},
    .outputs = {"h", "next_c", "gates"},
    .attrs = &attrs_type<LstmAttrs>,
    .shape = cell_shape,
    .gradient = cell_gradient,
    .cpu = lstm_cell_cpu,
    .in_place = {{{0, 2}, {1, 1}}},
    .rows_of = internal::gate_rows,
    .cost = cell_cost,
    .family = "Sequences",
};

constinit const OpDef op_lstm_cell_grad = {
    .name = "lstm_cell_grad",
    .doc = "dz and dc of lstm_cell from its activated gates",
    .inputs = {"gates", "c", "next_c", "dh", "dnext_c"},
    .outputs = {"dz", "dc"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = cell_grad_shape,
    .gradient = [](const GradContext& c) { return internal::gradient_of_primitives(c, cell_grad_of_primitives); },
    .cpu = lstm_cell_grad_cpu,
    .in_place = {{{0, 0}, {4, 1}}},
    .rows_of = internal::gate_rows,
    .cost = cell_cost,
    .family = "Sequences",
};

LstmState lstm_cell(Operand z, Operand c, LstmAttrs attrs, Name name) {
  const Operation op = add_operation(op_lstm_cell, {z, c}, Attrs(attrs), name);
  return {Tensor(op, 0), Tensor(op, 1)};
}
LstmCellGrads lstm_cell_grad(Operand gates, Operand c, Operand next_c, Operand dh, Operand dnext_c, Name name) {
  const Operation op = add_operation(op_lstm_cell_grad, {gates, c, next_c, dh, dnext_c}, Attrs(), name);
  return {Tensor(op, 0), Tensor(op, 1)};
}

}  // namespace martello
