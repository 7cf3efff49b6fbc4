#pragma once
#include <martello/graph/kernel.h>
#include <martello/kernel/cpu/onednn.h>

#include <vector>

namespace martello::internal {

struct MatmulFlags {
  bool transpose_a = false;
  bool transpose_b = false;
  bool has_bias = false;    // input 2
  bool has_addend = false;  // the last input, like y: added after the bias
  bool relu = false;
  int addend() const { return has_bias ? 3 : 2; }
  int inputs() const { return addend() + has_addend; }
};

// A dimension before the last two, with the distance in elements from one matrix to the next; 0 where broadcast.
struct BatchDim {
  int64_t size = 1;
  int64_t a = 0, b = 0;
};

// Sizes of a matmul with neighbouring batch dimensions merged, and folded into m where b has none.
struct MatmulSizes {
  int64_t m = 0, n = 0, k = 0;
  std::vector<BatchDim> batch;
  int64_t batches = 1;

  MatmulSizes(const KernelPlan& plan, const MatmulFlags& flags);
  double multiplications() const;
  // Where matrix i of a, b and y begins.
  struct Offsets {
    int64_t a, b, y;
  };
  Offsets offsets(int64_t i) const;
};

// Products up to here run in loops of our own. Measured on one thread; decided by sizes alone, because neither the
// number of threads nor the level may change bits.
inline constexpr double kSmallProduct = 1 << 18;

// As large as that of a layer: from here on it counts which core has which part of it. See Note [Split products].
bool is_large_matrix(int64_t rows, int64_t columns);

// By oneDNN: factors of f32 or bf16, bias and y of f32. The addend and ReLU are left to finish_in_place().
onednn::Primitive library_matmul(const KernelPlan& plan, const MatmulSizes& sizes, const MatmulFlags& flags);

// The kernel of matmul and linear.
Kernel plan_matmul(const KernelPlan& plan, const MatmulFlags& flags);
// Whether loops of our own are chosen for it.
bool is_own_product(const KernelPlan& plan, const MatmulFlags& flags);
// A product of f32 within the kernel of another op: `plan` has its factors and result, and nobody chooses.
Kernel plan_product_by_rules(const KernelPlan& plan, const MatmulFlags& flags);

// What is left after a library's kernel: y + addend, which may be null, then ReLU. The library's own sums take longer,
// and its ReLU loses NaN.
void finish_in_place(const KernelRun& run, float* y, const float* addend, bool relu, int64_t count);

}  // namespace martello::internal
