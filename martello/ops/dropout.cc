#include <martello/ops/broadcast.h>
#include <martello/ops/dims.h>
#include <martello/ops/dropout.h>
#include <martello/ops/identity.h>
#include <martello/ops/internal/random_op.h>

namespace martello {

Kernel dropout_cpu(const KernelPlan&);

constinit const OpDef op_dropout = {
    .name = "dropout",
    .doc = "y = 0 with probability `rate`, else x / (1 - rate)",
    .inputs = {"counter", "x"},
    .outputs = {"y"},
    .attrs = &attrs_type<DropoutAttrs>,
    .shape =
        [](const ShapeContext& c) {
          const double rate = c.attrs<DropoutAttrs>().rate;
          internal::check_counter(c);
          check_dtypes(c, kFloatingDTypes, 1);
          MARTELLO_CHECK(rate >= 0 && rate < 1, c.where(), "rate ", rate, " must lie in [0, 1): the part that is 0.");
          return std::vector<TensorSpec>{{.shape = c.in[1].shape, .dtype = c.in[1].dtype}};
        },
    // dx = dy, dropped and scaled at the same places: the same counter and key give them again
    .gradient =
        [](const GradContext& c) {
          return TensorList{Tensor(),
                            add_op(op_dropout, {c.input(0), c.grad(0)}, c.attrs<DropoutAttrs>(), Name("dropout_grad"))};
        },
    .cpu = dropout_cpu,
    .in_place = {{{1, 0}}},
    .counter_input = 0,
    .rows_of = [](const ShapeContext& c, size_t i) { return internal::same_if(i == 1 && c.in[1].shape.rank() > 0); },
    .cost = internal::random_cost,
    .family = "Random",
};

Tensor dropout(Operand x, DropoutAttrs attrs, Name name) {
  if (attrs.rate == 0) return identity(x, name);
  const internal::RandomSite site = internal::make_random_site(name);
  attrs.key = site.key;
  return add_op(op_dropout, {Operand(site.counter, name.line()), x}, attrs, Name(site.name, name.line()));
}

}  // namespace martello
