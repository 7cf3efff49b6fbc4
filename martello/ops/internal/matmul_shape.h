#pragma once
#include <martello/ops/matmul.h>

namespace martello::internal {

// Output of matmul for inputs 0 and 1; refuses what the kernels cannot do. `a`, `b`: the inputs' names in texts.
TensorSpec matmul_spec(const ShapeContext& c, const MatmulAttrs& attrs, const char* a, const char* b);
// How rows that depend on data pass from input 0 or 1 to the output.
Rows matmul_rows(const ShapeContext& c, size_t input, bool transpose_a, bool transpose_b);
Cost matmul_cost(std::span<const TensorSpec> in, std::span<const TensorSpec> out, bool transpose_a);
// Whether the library computes it.
bool is_large_product(const KernelPlan& plan, bool transpose_a);

// Gradients of matmul(a, b) for dy; null where not needed.
struct MatmulGradients {
  Tensor a, b;
};
MatmulGradients matmul_gradients(const GradContext& c, Tensor dy, const MatmulAttrs& attrs);

}  // namespace martello::internal
