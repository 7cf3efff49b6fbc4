#include <martello/base/error.h>
#include <martello/ops/dims.h>
#include <martello/ops/internal/reorder_attrs.h>

namespace martello {

Kernel reorder_cpu(const KernelPlan&);

namespace {

std::vector<TensorSpec> reorder_shape(const ShapeContext& c) {
  const auto& a = c.attrs<internal::ReorderAttrs>();
  const bool is_back = a.direction == internal::ConvDirection::grad_kernel, is_narrow = a.widen && !is_back;
  if (!is_narrow || c.in[0].dtype != bf16) c.check_dtype(0, f32);
  internal::check_packing(c.where(), a.packing);
  MARTELLO_CHECK(a.x.rank() == 4 && a.x.is_known(), c.where(), "images ", a.x,
                 " are no batch to pack a kernel for: they need four sizes.");
  const Shape packed(a.packing.elements), &from = is_back ? packed : a.packing.kernel;
  internal::check_same_shape(c, "the kernel", c.in[0].shape, "the convolution", from);
  return {{.shape = is_back ? a.packing.kernel : packed, .dtype = is_narrow ? bf16 : f32}};
}

}  // namespace

constinit const OpDef op_reorder = {
    .name = "reorder",
    .doc = "a convolution's kernel in the layout that the library wants for it, or back; made by assign_layout",
    .inputs = {"kernel"},
    .outputs = {"y"},
    .attrs = &attrs_type<internal::ReorderAttrs>,
    .shape = reorder_shape,
    .gradient = not_differentiable,
    .cpu = reorder_cpu,
    .cost = internal::copy_cost,
    .family = "Images",
};

}  // namespace martello
