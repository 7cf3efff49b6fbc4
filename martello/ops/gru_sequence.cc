#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/gru_sequence.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>
#include <martello/ops/slice.h>

namespace martello {

Kernel gru_sequence_cpu(const KernelPlan&);
Kernel gru_sequence_grad_cpu(const KernelPlan&);

namespace {

using internal::known_steps;
using internal::step_counts;
using internal::where_counts;

enum In : size_t { kX, kW, kB, kH0, kLengths };
enum Out : size_t { kY, kH, kGates };
namespace grad {
enum In : size_t { kGates, kY, kW, kH0, kDy, kDh, kLengths };
}

std::vector<TensorSpec> sequence_shape(const ShapeContext& c) {
  internal::check_floating_before(c, kLengths);
  const auto d = internal::check_sequence(c, 3, kX, kW, {kH0}, kLengths);
  internal::check_same_shape(c, "b", c.in[kB].shape, "w", {internal::times(3, d.units)});
  const DType dtype = c.in[kX].dtype;
  return {{.shape = d.of_sequence(1), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype},
          {.shape = d.of_sequence(4), .dtype = dtype}};
}

std::vector<TensorSpec> sequence_grad_shape(const ShapeContext& c) {
  internal::check_floating_before(c, grad::kLengths);
  const auto d = internal::check_sequence(c, 4, grad::kGates, grad::kW, {grad::kH0, grad::kDh}, grad::kLengths, 3);
  internal::check_same_shape(c, "y", c.in[grad::kY].shape, "gates", d.of_sequence(1));
  internal::check_same_shape(c, "dy", c.in[grad::kDy].shape, "gates", d.of_sequence(1));
  const DType dtype = c.in[0].dtype;
  return {{.shape = d.of_sequence(3), .dtype = dtype},
          {.shape = d.of_sequence(3), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype}};
}

// The same outputs by a chain of steps.
TensorList sequence_of_primitives(const TensorList& in) {
  const int64_t steps = known_steps(in[kX], "gru_sequence");
  TensorList y, gates;
  Tensor h = in[kH0];
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor counts = step_counts(in, kLengths, t);
    const Tensor next = gru_cell(in[kX][t], linear(h, in[kW], in[kB]), h), own = outputs_of(next.op())[1];
    y.push_back(where_counts(counts, next, zeros_like(next)));
    gates.push_back(where_counts(counts, own, zeros_like(own)));
    h = where_counts(counts, next, h);
  }
  const Tensor none = strided_slice(expand_dims(h, 0), {0}, {0});
  if (steps == 0) return {none, h, concat({none, none, none, none}, -1)};
  return {stack(y), h, stack(gates)};
}

TensorList sequence_grad_of_primitives(const TensorList& in) {
  const int64_t steps = known_steps(in[grad::kGates], "gru_sequence_grad");
  Tensor dh = in[grad::kDh];
  std::vector<Tensor> dx(static_cast<size_t>(steps)), da = dx;
  for (int64_t t = steps; t-- > 0;) {
    const Tensor counts = step_counts(in, grad::kLengths, t), h = t > 0 ? in[grad::kY][t - 1] : in[grad::kH0];
    const auto d = gru_cell_grad(in[grad::kGates][t], h, dh + in[grad::kDy][t]);
    dx[static_cast<size_t>(t)] = where_counts(counts, d.dx, zeros_like(d.dx));
    da[static_cast<size_t>(t)] = where_counts(counts, d.da, zeros_like(d.da));
    dh = where_counts(counts, d.dh + matmul(d.da, in[grad::kW], {.transpose_b = true}), dh);
  }
  const Tensor none = concat({in[grad::kY], in[grad::kY], in[grad::kY]}, -1);
  return {steps > 0 ? stack(dx) : none, steps > 0 ? stack(da) : none, dh};
}

// dw = sum over all steps and rows of h of the step before and da, db = sum of da. Second derivatives reach the gates.
TensorList sequence_gradient(const GradContext& c) {
  if (!c.grad(kGates).is_null()) return internal::gradient_of_primitives(c, sequence_of_primitives);
  const auto given = [&](size_t i) { return Operand(c.grad(i).is_null() ? zeros_like(c.output(i)) : c.grad(i)); };
  std::vector<Operand> in{c.output(kGates), c.output(kY), c.input(kW), c.input(kH0), given(kY), given(kH)};
  if (c.inputs.size() > kLengths) in.emplace_back(c.input(kLengths));
  const Operation op = add_operation(op_gru_sequence_grad, in, Attrs(), "gru_sequence_grad");
  const Tensor da = internal::as_rows(Tensor(op, 1));
  std::vector<Tensor> result(c.inputs.size());
  result[kX] = Tensor(op, 0);
  if (c.needed[kW])
    result[kW] = matmul(internal::as_rows(internal::shifted(c.input(kH0), c.output(kY))), da, {.transpose_a = true});
  result[kB] = da;
  result[kH0] = Tensor(op, 2);
  return result;
}

}  // namespace

constinit const OpDef op_gru_sequence = {
    .name = "gru_sequence",
    .doc = "h[t] = gru_cell(x[t], h[t - 1] w + b, h[t - 1]) for all steps; y = h, 0 past a row's length",
    .inputs = {"x", "w", "b", "h0", "lengths..."},
    .outputs = {"y", "h", "gates"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = sequence_shape,
    .gradient = sequence_gradient,
    .cpu = gru_sequence_cpu,
    .cost = internal::sequence_cost,
    .family = "Sequences",
};

constinit const OpDef op_gru_sequence_grad = {
    .name = "gru_sequence_grad",
    .doc = "dx, d(h w + b) and dh0 of gru_sequence",
    .inputs = {"gates", "y", "w", "h0", "dy", "dh", "lengths..."},
    .outputs = {"dx", "da", "dh0"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = sequence_grad_shape,
    .gradient = [](const GradContext& c) { return internal::gradient_of_primitives(c, sequence_grad_of_primitives); },
    .cpu = gru_sequence_grad_cpu,
    .cost = internal::sequence_cost,
    .family = "Sequences",
};

GruSequence gru_sequence(Operand x, Operand w, Operand b, Operand first, Name name) {
  return gru_sequence(x, w, b, first, Tensor(), name);
}
GruSequence gru_sequence(Operand x, Operand w, Operand b, Operand first, Tensor lengths, Name name) {
  std::vector<Operand> in{x, w, b, first};
  if (!lengths.is_null()) in.emplace_back(lengths, x.line());
  const Operation op = add_operation(op_gru_sequence, in, Attrs(), name);
  return {Tensor(op, kY), Tensor(op, kH)};
}

}  // namespace martello
