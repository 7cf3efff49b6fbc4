#include <martello/ops/compare.h>
#include <martello/ops/internal/compare_formulas.h>
#include <martello/ops/internal/elementwise_op.h>

namespace martello {
namespace {

template <const cpu::Formula& formula, const PlainLoops& loops>
constexpr OpDef comparison_op(const char* name, const char* doc) {
  OpDef op = elementwise_op(name, doc, {"a", "b"}, not_differentiable);
  op.shape = comparison_shape;
  op.cpu = formula_or_loops_cpu<formula, loops>;
  op.formula = &formula;
  op.family = "Comparisons and logic";
  return op;
}

template <const PlainLoops& loops>
constexpr OpDef logic_op(const char* name, const char* doc, std::vector<TensorSpec> (*shape)(const ShapeContext&)) {
  OpDef op = elementwise_op(name, doc, {"a", "b"}, not_differentiable);
  op.shape = shape;
  op.cpu = loops_cpu<loops>;
  op.in_place = {{{0, 0}, {1, 0}}};
  op.family = "Comparisons and logic";
  return op;
}

// The formula is for chains; alone, bytes are cheaper.
template <const cpu::Formula& formula, const PlainLoops& loops>
constexpr OpDef logical_op(const char* name, const char* doc) {
  OpDef op = logic_op<loops>(name, doc, logical_shape);
  op.formula = &formula;
  return op;
}

constexpr OpDef with_one_input(OpDef op) {
  op.inputs = {"x"};
  op.in_place = {{{0, 0}}};
  return op;
}

}  // namespace

#define MARTELLO_BINARY(f, definition)       \
  constinit const OpDef op_##f = definition; \
  Tensor f(Operand a, Operand b, Name name) { return add_op(op_##f, {a, b}, name); }
#define MARTELLO_COMPARISON(f, doc) MARTELLO_BINARY(f, (comparison_op<cpu::formula_##f, loops_##f>(#f, doc)))
#define MARTELLO_LOGICAL(f, loops, doc) MARTELLO_BINARY(f, (logical_op<cpu::formula_##f, loops>(#f, doc)))
#define MARTELLO_BITWISE(f, loops, doc) MARTELLO_BINARY(f, logic_op<loops>(#f, doc, integer_shape))

MARTELLO_COMPARISON(equal, "y = a == b")
MARTELLO_COMPARISON(not_equal, "y = a != b")
MARTELLO_COMPARISON(less, "y = a < b")
MARTELLO_COMPARISON(less_equal, "y = a <= b")
MARTELLO_COMPARISON(greater, "y = a > b")
MARTELLO_COMPARISON(greater_equal, "y = a >= b")
MARTELLO_LOGICAL(logical_and, loops_and, "y = a and b")
MARTELLO_LOGICAL(logical_or, loops_or, "y = a or b")
MARTELLO_LOGICAL(logical_xor, loops_xor, "y = a or b, not both")
MARTELLO_BITWISE(bitwise_and, loops_and, "y = a & b")
MARTELLO_BITWISE(bitwise_or, loops_or, "y = a | b")
MARTELLO_BITWISE(bitwise_xor, loops_xor, "y = a ^ b")

constinit const OpDef op_logical_not =
    with_one_input(logical_op<cpu::formula_logical_not, loops_logical_not>("logical_not", "y = not x"));
constinit const OpDef op_bitwise_not =
    with_one_input(logic_op<loops_bitwise_not>("bitwise_not", "y = ~x", integer_shape));
Tensor logical_not(Operand x, Name name) { return add_op(op_logical_not, {x}, name); }
Tensor bitwise_not(Operand x, Name name) { return add_op(op_bitwise_not, {x}, name); }

}  // namespace martello
