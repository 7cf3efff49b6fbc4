#include <martello/base/checked.h>
#include <martello/ops/dims.h>
#include <martello/ops/shape.h>

namespace martello {

Kernel shape_cpu(const KernelPlan&);
Kernel size_cpu(const KernelPlan&);

namespace {

// A product with one unknown factor is that factor when the others make 1.
internal::KnownElements size_value(const ShapeContext& c) {
  std::vector<int64_t> known, unknown;
  for (const int64_t d : c.in[0].shape.symbolic()) (d < 0 ? unknown : known).push_back(d);
  const int64_t product = checked_product(known);
  if (unknown.empty() || product == 0) return std::vector<int64_t>{product};
  return std::vector<int64_t>{unknown.size() == 1 && product == 1 ? unknown[0] : kUnknown};
}

}  // namespace

constinit const OpDef op_shape = {
    .name = "shape",
    .doc = "sizes = the shape of x, an i64 vector",
    .inputs = {"x"},
    .outputs = {"sizes"},
    .shape =
        [](const ShapeContext& c) {
          return std::vector<TensorSpec>{{.shape = Shape(c.in[0].shape.rank()), .dtype = i64}};
        },
    .gradient = no_gradient,
    .cpu = shape_cpu,
    .value = [](const ShapeContext& c) { return internal::KnownElements(c.in[0].shape.symbolic()); },
    .rows = Rows::reduced,
    .family = "Shapes",
};

constinit const OpDef op_size = {
    .name = "size",
    .doc = "n = the number of elements of x, an i64 scalar",
    .inputs = {"x"},
    .outputs = {"n"},
    .shape = [](const ShapeContext&) { return std::vector<TensorSpec>{{.shape = Shape(), .dtype = i64}}; },
    .gradient = no_gradient,
    .cpu = size_cpu,
    .value = size_value,
    .rows = Rows::reduced,
    .family = "Shapes",
};

Tensor shape(Operand x, Name name) { return add_op(op_shape, {x}, name); }
Tensor size(Operand x, Name name) { return add_op(op_size, {x}, name); }

}  // namespace martello
