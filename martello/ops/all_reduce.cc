#include <martello/ops/all_reduce.h>
#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>

namespace martello {

Kernel all_reduce_cpu(const KernelPlan&);

std::vector<std::string> enum_names(AllReduceKind) { return {"sum", "mean"}; }

constinit const OpDef op_all_reduce = {
    .name = "all_reduce",
    .doc = "y = the sum or mean of x over the devices that compute together; x on one device",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<AllReduceAttrs>,
    .shape = floating_shape,
    // Every device's y depends on every device's x alike: dx = dy, summed or averaged in the same way
    .gradient = [](const GradContext& c) { return TensorList{all_reduce(c.grad(0), c.attrs<AllReduceAttrs>())}; },
    .cpu = all_reduce_cpu,
    .in_place = {{{0, 0}}},
    .cost = internal::copy_cost,
    .family = "Collectives",
    .stateful = true,  // not folded: a constant has another sum on many devices
};

Tensor all_reduce(Operand x, AllReduceAttrs attrs, Name name) { return add_op(op_all_reduce, {x}, attrs, name); }

}  // namespace martello
