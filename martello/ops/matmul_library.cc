#include <martello/ops/internal/matmul_plan.h>

namespace martello::internal {
namespace {

// The layout of a matrix per batch. One row or column is never transposed: the library likes its strides dense.
onednn::Layout matrix_layout(const MatmulSizes& s, int64_t BatchDim::*step, int64_t rows, int64_t columns,
                             bool transpose, DType dtype) {
  std::vector<int64_t> dims, strides;
  for (const auto& d : s.batch) {
    dims.push_back(d.*step == 0 ? 1 : d.size);
    strides.push_back(d.*step == 0 ? rows * columns : d.*step);
  }
  const bool is_transposed = transpose && rows > 1 && columns > 1;
  dims.insert(dims.end(), {rows, columns});
  strides.insert(strides.end(), {is_transposed ? 1 : columns, is_transposed ? rows : 1});
  return onednn::Layout(dims, strides, dtype);
}

}  // namespace

onednn::Primitive library_matmul(const KernelPlan& plan, const MatmulSizes& s, const MatmulFlags& flags) {
  const DType dtype = plan.in[0].dtype;
  std::vector<int64_t> y, bias(s.batch.size() + 1, 1);
  for (const auto& d : s.batch) y.push_back(d.size);
  y.insert(y.end(), {s.m, s.n});
  bias.push_back(s.n);
  return onednn::make_matmul(plan.op,
                             {.a = matrix_layout(s, &BatchDim::a, s.m, s.k, flags.transpose_a, dtype),
                              .b = matrix_layout(s, &BatchDim::b, s.k, s.n, flags.transpose_b, dtype),
                              .y = onednn::Layout(y, f32),
                              .bias = flags.has_bias ? onednn::Layout(bias, f32) : onednn::Layout()},
                             plan.threads);
}

}  // namespace martello::internal
