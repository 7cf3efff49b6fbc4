#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/space_to_batch.h>

namespace martello {

Kernel space_to_batch_nd_cpu(const KernelPlan&);
Kernel batch_to_space_nd_cpu(const KernelPlan&);

namespace {

using internal::dims_text;

void check_block(const ShapeContext& c) {
  const auto& a = c.attrs<BlockAttrs>();
  const size_t n = a.block.size();
  MARTELLO_CHECK(static_cast<int>(n) < c.in[0].shape.rank(), c.where(), "block ", dims_text(a.block), " needs ", n + 1,
                 " dimensions, x is ", c.in[0].str(), ".");
  MARTELLO_CHECK((a.before.empty() || a.before.size() == n) && (a.after.empty() || a.after.size() == n), c.where(),
                 "before ", dims_text(a.before), " and after ", dims_text(a.after),
                 " need one number per axis of block ", dims_text(a.block), ".");
  for (const int64_t b : a.block)
    MARTELLO_CHECK(b > 0, c.where(), "block ", dims_text(a.block), " needs sizes of 1 or more.");
  for (const auto* list : {&a.before, &a.after})
    for (const int64_t p : *list)
      MARTELLO_CHECK(p >= 0, c.where(), "before ", dims_text(a.before), " and after ", dims_text(a.after),
                     " must not be negative.");
}

int64_t border(const BlockAttrs& a, size_t i) {
  return checked_add(a.before.empty() ? 0 : a.before[i], a.after.empty() ? 0 : a.after[i]);
}

std::vector<TensorSpec> space_to_batch_shape(const ShapeContext& c) {
  check_block(c);
  const auto& a = c.attrs<BlockAttrs>();
  Shape y = c.in[0].shape;
  const int64_t blocks = checked_product(a.block);
  if (blocks != 1) y = y.with(0, y[0] < 0 ? kUnknown : checked_mul(y[0], blocks));
  for (size_t i = 0; i < a.block.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    if (y[axis] < 0) {
      if (a.block[i] != 1 || border(a, i) != 0) y = y.with(axis, kUnknown);
      continue;
    }
    const int64_t padded = checked_add(y[axis], border(a, i));
    MARTELLO_CHECK(padded % a.block[i] == 0, c.where(), "dimension ", axis, " of x ", c.in[0].str(), " is ", padded,
                   " with padding, not a multiple of block ", a.block[i], ". Pad it further.");
    y = y.with(axis, padded / a.block[i]);
  }
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

std::vector<TensorSpec> batch_to_space_shape(const ShapeContext& c) {
  check_block(c);
  const auto& a = c.attrs<BlockAttrs>();
  Shape y = c.in[0].shape;
  const int64_t blocks = checked_product(a.block);
  MARTELLO_CHECK(y[0] < 0 || y[0] % blocks == 0, c.where(), "x ", c.in[0].str(), " has ", y[0],
                 " batches, not a multiple of the ", blocks, " places of block ", dims_text(a.block), ".");
  if (blocks != 1) y = y.with(0, y[0] < 0 ? kUnknown : y[0] / blocks);
  for (size_t i = 0; i < a.block.size(); ++i) {
    const int axis = static_cast<int>(i) + 1;
    if (y[axis] < 0) {
      if (a.block[i] != 1 || border(a, i) != 0) y = y.with(axis, kUnknown);
      continue;
    }
    const int64_t full = checked_mul(y[axis], a.block[i]);
    MARTELLO_CHECK(full >= border(a, i), c.where(), "crops ", border(a, i), " from dimension ", axis,
                   ", which has only ", full, ".");
    y = y.with(axis, full - border(a, i));
  }
  return {{.shape = y, .dtype = c.in[0].dtype}};
}

}  // namespace

constinit const OpDef op_space_to_batch_nd = {
    .name = "space_to_batch_nd",
    .doc = "y[o * N + n, s, ...] = x[n, s * block + o - before, ...], 0 outside x",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<BlockAttrs>,
    .shape = space_to_batch_shape,
    // dx = dy put back
    .gradient = [](const GradContext& c) { return TensorList{batch_to_space_nd(c.grad(0), c.attrs<BlockAttrs>())}; },
    .cpu = space_to_batch_nd_cpu,
    .cost = internal::copy_cost,
    .family = "Shapes",
};

constinit const OpDef op_batch_to_space_nd = {
    .name = "batch_to_space_nd",
    .doc = "y[n, s * block + o - before, ...] = x[o * N + n, s, ...]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<BlockAttrs>,
    .shape = batch_to_space_shape,
    // dx = dy taken apart, zeros where it was cropped
    .gradient = [](const GradContext& c) { return TensorList{space_to_batch_nd(c.grad(0), c.attrs<BlockAttrs>())}; },
    .cpu = batch_to_space_nd_cpu,
    .cost = internal::copy_cost,
    .family = "Shapes",
};

Tensor space_to_batch_nd(Operand x, BlockAttrs attrs, Name name) {
  return add_op(op_space_to_batch_nd, {x}, std::move(attrs), name);
}
Tensor batch_to_space_nd(Operand x, BlockAttrs attrs, Name name) {
  return add_op(op_batch_to_space_nd, {x}, std::move(attrs), name);
}

}  // namespace martello
