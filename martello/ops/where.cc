#include <martello/base/error.h>
#include <martello/ops/internal/compare_formulas.h>
#include <martello/ops/internal/elementwise_op.h>
#include <martello/ops/where.h>

namespace martello {
namespace {

constexpr DTypeSet kAllDTypes = kComparedDTypes | DTypeSet::of(bf16, f16);

std::vector<TensorSpec> where_shape(const ShapeContext& c) {
  c.check_dtype(0, boolean);
  check_dtypes(c, kAllDTypes, 1);
  return {{.shape = broadcast_shapes(c), .dtype = c.in[1].dtype}};
}

Kernel where_cpu(const KernelPlan& plan) {
  return kFloatingDTypes.has(plan.out[0].dtype) ? formula_kernel(plan, cpu::formula_where) : where_loop(plan);
}

constexpr OpDef where_op() {
  // da = dy where c, else 0;  db = 0 where c, else dy
  OpDef op = elementwise_op("where", "y = a where c, else b", {"c", "a", "b"}, [](const GradContext& c) {
    const Tensor condition = c.input(0), dy = c.grad(0);
    return TensorList{Tensor(), where(condition, dy, 0), where(condition, 0, dy)};
  });
  op.shape = where_shape;
  op.cpu = where_cpu;
  op.formula = &cpu::formula_where;
  op.in_place = {{{1, 0}, {2, 0}}};
  op.family = "Comparisons and logic";
  return op;
}

}  // namespace

constinit const OpDef op_where = where_op();

Tensor where(Operand c, Operand a, Operand b, Name name) { return add_op(op_where, {c, a, b}, name); }

}  // namespace martello
