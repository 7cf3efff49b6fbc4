#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/gru_cell.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/split.h>

namespace martello {

Kernel gru_cell_cpu(const KernelPlan&);
Kernel gru_cell_grad_cpu(const KernelPlan&);

namespace {

// The shape of a state with n numbers per unit.
TensorSpec per_unit(const TensorSpec& state, int64_t n) {
  const int last = state.shape.rank() - 1;
  return {.shape = state.shape.with(last, internal::times(n, internal::dim_of(state.shape, last))),
          .dtype = state.dtype};
}

std::vector<TensorSpec> cell_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  internal::check_gates(c, 0, 2, 3);
  internal::check_gates(c, 1, 2, 3);
  return {{.shape = c.in[2].shape, .dtype = c.in[2].dtype}, per_unit(c.in[2], 4)};
}

std::vector<TensorSpec> cell_grad_shape(const ShapeContext& c) {
  check_dtypes(c, kFloatingDTypes);
  internal::check_gates(c, 0, 1, 4);
  internal::check_same_shape(c, "dnext_h", c.in[2].shape, "h", c.in[1].shape);
  return {per_unit(c.in[1], 3), per_unit(c.in[1], 3), {.shape = c.in[1].shape, .dtype = c.in[1].dtype}};
}

// See gru_cell_isa.cc.
TensorList cell_of_primitives(const TensorList& in) {
  const auto [xr, xu, xn] = split(in[0], 3, -1).unpack<3>();
  const auto [ar, au, an] = split(in[1], 3, -1).unpack<3>();
  const Tensor r = sigmoid(xr + ar), u = sigmoid(xu + au), n = tanh(xn + r * an);
  return {u * in[2] + (1 - u) * n, concat({r, u, n, an}, -1)};
}
TensorList cell_grad_of_primitives(const TensorList& in) {
  const auto [r, u, n, a] = split(in[0], 4, -1).unpack<4>();
  const Tensor h = in[1], dh = in[2], d = dh * (1 - u) * (1 - n * n), dr = d * a * r * (1 - r);
  const Tensor du = dh * (h - n) * u * (1 - u);
  return {concat({dr, du, d}, -1), concat({dr, du, d * r}, -1), dh * u};
}

// Second derivatives reach the gates themselves.
TensorList cell_gradient(const GradContext& c) {
  if (!c.grad(1).is_null()) return internal::gradient_of_primitives(c, cell_of_primitives);
  const auto d = gru_cell_grad(c.output(1), c.input(2), c.grad(0));
  return {d.dx, d.da, d.dh};
}

Cost cell_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, const Attrs&) {
  double count = 0;
  for (auto list : {in, out})
    for (const TensorSpec& t : list) count += static_cast<double>(t.shape.num_elements());
  return {.flops = 20 * count, .bytes = count * static_cast<double>(size_of(in[0].dtype))};
}

}  // namespace

constinit const OpDef op_gru_cell = {
    .name = "gru_cell",
    .doc = "r = sigmoid(x_r + a_r), u = sigmoid(x_u + a_u), n = tanh(x_n + r a_n), h' = u h + (1 - u) n",
    .inputs = {"x", "a", "h"},
    .outputs = {"next_h", "gates"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = cell_shape,
    .gradient = cell_gradient,
    .cpu = gru_cell_cpu,
    .in_place = {{{2, 0}}},
    .rows_of = internal::gate_rows,
    .cost = cell_cost,
    .family = "Sequences",
};

constinit const OpDef op_gru_cell_grad = {
    .name = "gru_cell_grad",
    .doc = "dx, da and dh of gru_cell from its activated gates",
    .inputs = {"gates", "h", "dnext_h"},
    .outputs = {"dx", "da", "dh"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = cell_grad_shape,
    .gradient = [](const GradContext& c) { return internal::gradient_of_primitives(c, cell_grad_of_primitives); },
    .cpu = gru_cell_grad_cpu,
    .in_place = {{{2, 2}}},
    .rows_of = internal::gate_rows,
    .cost = cell_cost,
    .family = "Sequences",
};

Tensor gru_cell(Operand x, Operand a, Operand h, Name name) { return add_op(op_gru_cell, {x, a, h}, name); }
GruCellGrads gru_cell_grad(Operand gates, Operand h, Operand dnext_h, Name name) {
  const Operation op = add_operation(op_gru_cell_grad, {gates, h, dnext_h}, Attrs(), name);
  return {Tensor(op, 0), Tensor(op, 1), Tensor(op, 2)};
}

}  // namespace martello
