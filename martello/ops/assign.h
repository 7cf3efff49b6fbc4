#pragma once
#include <martello/graph/op_def.h>

// Ops that touch variables. Writes take effect in the update phase, after everything that only computes; the order of
// several writes of one variable is the order in which the nodes were made.
namespace martello {

// v = value. Two of them on one variable in one run need a control path between them.
Operation assign(Variable v, Operand value, Name name = "assign");
// v += value and v -= value, applied to what the variable holds at that moment.
Operation assign_add(Variable v, Operand value, Name name = "assign_add");
Operation assign_sub(Variable v, Operand value, Name name = "assign_sub");
// The value where control edges put the read: after the writes it depends on.
//   ControlDependencies after({update});
//   auto fresh = read_variable(v);
Tensor read_variable(Variable v, Name name = "read_variable");

// The bytes of x in memory of their own: between devices, and of a variable whose old value outlives a write.
Tensor copy(Operand x, Name name = "copy");

extern const OpDef op_assign, op_assign_add, op_assign_sub, op_read_variable, op_copy;
extern const OpDef op_advance_counter;  // of a random op; added by the runtime

}  // namespace martello
