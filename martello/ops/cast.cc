#include <martello/ops/broadcast.h>
#include <martello/ops/cast.h>
#include <martello/ops/internal/compare_formulas.h>

namespace martello {

Kernel cast_cpu(const KernelPlan&);  // cast_cpu.cc
Kernel zeros_like_cpu(const KernelPlan&);
Kernel ones_like_cpu(const KernelPlan&);

namespace {

constexpr const char* kFamily = "Identity and casts";

std::optional<std::vector<int64_t>> cast_value(const ShapeContext& c) {
  const bool keeps = c.value(0) && c.in[0].dtype != boolean && c.attrs<CastAttrs>().dtype == i64;
  return keeps ? std::optional(*c.value(0)) : std::nullopt;
}

}  // namespace

constinit const OpDef op_cast = {
    .name = "cast",
    .doc = "y = x as numbers of `dtype`",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<CastAttrs>,
    .shape =
        [](const ShapeContext& c) {
          return std::vector<TensorSpec>{{.shape = c.in[0].shape, .dtype = c.attrs<CastAttrs>().dtype}};
        },
    // dx = cast(dy) between floats; an integer has no gradient.
    .gradient =
        [](const GradContext& c) {
          const DType from = c.input(0).dtype();
          const bool is_smooth = is_floating(from) && is_floating(c.attrs<CastAttrs>().dtype);
          return TensorList{is_smooth ? cast(c.grad(0), from) : Tensor()};
        },
    .cpu = cast_cpu,
    .value = cast_value,
    .formula = &cpu::formula_cast,
    .formula_parameters =
        [](const Attrs& attrs) { return std::vector<double>{attrs.get<CastAttrs>().dtype == boolean ? 1.0 : 0.0}; },
    .in_place = {{{0, 0}}},
    .rows = Rows::same,
    .cost = elementwise_cost,
    .family = kFamily,
};

constinit const OpDef op_zeros_like = {
    .name = "zeros_like",
    .doc = "y = 0, with the shape and dtype of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = same_shape,
    .gradient = no_gradient,
    .cpu = zeros_like_cpu,
    .rows = Rows::same,
    .family = kFamily,
};

constinit const OpDef op_ones_like = {
    .name = "ones_like",
    .doc = "y = 1, with the shape and dtype of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = same_shape,
    .gradient = no_gradient,
    .cpu = ones_like_cpu,
    .rows = Rows::same,
    .family = kFamily,
};

Tensor cast(Operand x, DType dtype, Name name) { return add_op(op_cast, {x}, CastAttrs{dtype}, name); }
Tensor zeros_like(Operand x, Name name) { return add_op(op_zeros_like, {x}, name); }
Tensor ones_like(Operand x, Name name) { return add_op(op_ones_like, {x}, name); }

}  // namespace martello
