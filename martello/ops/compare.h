#pragma once
#include <martello/graph/op_def.h>

// Comparisons and logic, with numpy's broadcasting. Nothing here has a gradient.
namespace martello {

extern const OpDef op_equal, op_not_equal, op_less, op_less_equal, op_greater, op_greater_equal;
extern const OpDef op_logical_and, op_logical_or, op_logical_xor, op_logical_not;
extern const OpDef op_bitwise_and, op_bitwise_or, op_bitwise_xor, op_bitwise_not;

// bool, of two tensors of one dtype (f32, f64, i32, i64, u8, bool). NaN is equal to nothing.
Tensor equal(Operand a, Operand b, Name name = "equal");
Tensor not_equal(Operand a, Operand b, Name name = "not_equal");
Tensor less(Operand a, Operand b, Name name = "less");
Tensor less_equal(Operand a, Operand b, Name name = "less_equal");
Tensor greater(Operand a, Operand b, Name name = "greater");
Tensor greater_equal(Operand a, Operand b, Name name = "greater_equal");

// Of bool.
Tensor logical_and(Operand a, Operand b, Name name = "logical_and");
Tensor logical_or(Operand a, Operand b, Name name = "logical_or");
Tensor logical_xor(Operand a, Operand b, Name name = "logical_xor");
Tensor logical_not(Operand x, Name name = "logical_not");

// Of i32, i64, u8.
Tensor bitwise_and(Operand a, Operand b, Name name = "bitwise_and");
Tensor bitwise_or(Operand a, Operand b, Name name = "bitwise_or");
Tensor bitwise_xor(Operand a, Operand b, Name name = "bitwise_xor");
Tensor bitwise_not(Operand x, Name name = "bitwise_not");

}  // namespace martello
