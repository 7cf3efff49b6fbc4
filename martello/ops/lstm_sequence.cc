#include <martello/ops/binary.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/concat.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/gates.h>
#include <martello/ops/lstm_sequence.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reshape.h>
#include <martello/ops/slice.h>

namespace martello {

Kernel lstm_sequence_cpu(const KernelPlan&);
Kernel lstm_sequence_grad_cpu(const KernelPlan&);

namespace {

using internal::known_steps;
using internal::step_counts;
using internal::where_counts;

enum In : size_t { kX, kW, kH0, kC0, kLengths };
enum Out : size_t { kY, kH, kC, kGates, kCells };
namespace grad {
enum In : size_t { kGates, kCells, kW, kC0, kDy, kDh, kDc, kLengths };
}

std::vector<TensorSpec> sequence_shape(const ShapeContext& c) {
  internal::check_floating_before(c, kLengths);
  const auto d = internal::check_sequence(c, 4, kX, kW, {kH0, kC0}, kLengths);
  const DType dtype = c.in[kX].dtype;
  return {{.shape = d.of_sequence(1), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype},
          {.shape = d.of_sequence(4), .dtype = dtype},
          {.shape = d.of_sequence(1), .dtype = dtype}};
}

std::vector<TensorSpec> sequence_grad_shape(const ShapeContext& c) {
  internal::check_floating_before(c, grad::kLengths);
  const auto d =
      internal::check_sequence(c, 4, grad::kGates, grad::kW, {grad::kC0, grad::kDh, grad::kDc}, grad::kLengths);
  internal::check_same_shape(c, "cells", c.in[grad::kCells].shape, "gates", d.of_sequence(1));
  internal::check_same_shape(c, "dy", c.in[grad::kDy].shape, "gates", d.of_sequence(1));
  const DType dtype = c.in[0].dtype;
  return {{.shape = d.of_sequence(4), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype},
          {.shape = d.of_state(), .dtype = dtype}};
}

// The same outputs by a chain of steps.
TensorList sequence_of_primitives(const TensorList& in, const LstmAttrs& attrs) {
  const int64_t steps = known_steps(in[kX], "lstm_sequence");
  TensorList y, gates, cells;
  LstmState s{in[kH0], in[kC0]};
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor counts = step_counts(in, kLengths, t);
    const LstmState next = lstm_cell(in[kX][t] + matmul(s.h, in[kW]), s.c, attrs);
    const Tensor activated = outputs_of(next.h.op())[2];
    y.push_back(where_counts(counts, next.h, zeros_like(next.h)));
    gates.push_back(where_counts(counts, activated, zeros_like(activated)));
    s = {where_counts(counts, next.h, s.h), where_counts(counts, next.c, s.c)};
    cells.push_back(s.c);
  }
  const Tensor none = strided_slice(expand_dims(in[kH0], 0), {0}, {0});
  if (steps == 0) return {none, s.h, s.c, in[kX], none};
  return {stack(y), s.h, s.c, stack(gates), stack(cells)};
}

// dx = dz, dw = sum over all steps and rows of h of the step before and dz: one product.
TensorList sequence_gradient(const GradContext& c) {
  if (!c.grad(kGates).is_null() || !c.grad(kCells).is_null())
    return internal::gradient_of_primitives(
        c, [&](const TensorList& in) { return sequence_of_primitives(in, c.attrs<LstmAttrs>()); });
  const auto given = [&](size_t i) { return Operand(c.grad(i).is_null() ? zeros_like(c.output(i)) : c.grad(i)); };
  std::vector<Operand> in{c.output(kGates), c.output(kCells), c.input(kW), c.input(kC0),
                          given(kY),        given(kH),        given(kC)};
  std::vector<Tensor> result(c.inputs.size());
  if (c.inputs.size() > kLengths) in.emplace_back(c.input(kLengths));
  const Operation op = add_operation(op_lstm_sequence_grad, in, Attrs(), "lstm_sequence_grad");
  const Tensor dz(op, 0);
  result[kX] = dz;
  if (c.needed[kW]) {
    const Tensor before = internal::shifted(c.input(kH0), c.output(kY));
    result[kW] = matmul(internal::as_rows(before), internal::as_rows(dz), {.transpose_a = true});
  }
  result[kH0] = Tensor(op, 1);
  result[kC0] = Tensor(op, 2);
  return result;
}

// The same outputs by a chain of steps.
TensorList sequence_grad_of_primitives(const TensorList& in) {
  const int64_t steps = known_steps(in[grad::kGates], "lstm_sequence_grad");
  const Tensor w = in[grad::kW];
  Tensor dh = in[grad::kDh], dc = in[grad::kDc];
  std::vector<Tensor> dz(static_cast<size_t>(steps));
  for (int64_t t = steps; t-- > 0;) {
    const Tensor counts = step_counts(in, grad::kLengths, t), before = t > 0 ? in[grad::kCells][t - 1] : in[grad::kC0];
    const auto d = lstm_cell_grad(in[grad::kGates][t], before, in[grad::kCells][t], dh + in[grad::kDy][t], dc);
    dz[static_cast<size_t>(t)] = where_counts(counts, d.dz, zeros_like(d.dz));
    dh = where_counts(counts, matmul(d.dz, w, {.transpose_b = true}), dh);
    dc = where_counts(counts, d.dc, dc);
  }
  return {steps > 0 ? stack(dz) : in[grad::kGates], dh, dc};
}

}  // namespace

constinit const OpDef op_lstm_sequence = {
    .name = "lstm_sequence",
    .doc = "h[t], c[t] = lstm_cell(x[t] + h[t - 1] w, c[t - 1]) for all steps; y = h, 0 past a row's length",
    .inputs = {"x", "w", "h0", "c0", "lengths..."},
    .outputs = {"y", "h", "c", "gates", "cells"},
    .attrs = &attrs_type<LstmAttrs>,
    .shape = sequence_shape,
    .gradient = sequence_gradient,
    .cpu = lstm_sequence_cpu,
    .in_place = {{{kX, kGates}}},
    .cost = internal::sequence_cost,
    .family = "Sequences",
};

constinit const OpDef op_lstm_sequence_grad = {
    .name = "lstm_sequence_grad",
    .doc = "dx of lstm_sequence, which is that of its gates before activation, and of its first state",
    .inputs = {"gates", "cells", "w", "c0", "dy", "dh", "dc", "lengths..."},
    .outputs = {"dx", "dh0", "dc0"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = sequence_grad_shape,
    .gradient = [](const GradContext& c) { return internal::gradient_of_primitives(c, sequence_grad_of_primitives); },
    .cpu = lstm_sequence_grad_cpu,
    .in_place = {{{grad::kGates, 0}}},
    .cost = internal::sequence_cost,
    .family = "Sequences",
};

LstmSequence lstm_sequence(Operand x, Operand w, LstmState first, LstmAttrs attrs, Name name) {
  return lstm_sequence(x, w, first, Tensor(), attrs, name);
}
LstmSequence lstm_sequence(Operand x, Operand w, LstmState first, Tensor lengths, LstmAttrs attrs, Name name) {
  std::vector<Operand> in{x, w, {first.h, x.line()}, {first.c, x.line()}};
  if (!lengths.is_null()) in.emplace_back(lengths, x.line());
  const Operation op = add_operation(op_lstm_sequence, in, Attrs(attrs), name);
  return {Tensor(op, kY), {Tensor(op, kH), Tensor(op, kC)}};
}

}  // namespace martello
