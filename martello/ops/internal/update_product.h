#pragma once
#include <martello/ops/internal/large_gemm.h>
#include <martello/ops/internal/update_layout.h>
#include <martello/ops/internal/update_loops.h>

// Note [Updates by products]: the gradient of a matrix that a layer multiplies with is a product, and usually only the
// update needs it. Then it is never written: each piece of the product is used up while it lies in the first cache, and
// what the update reads and writes of weights and slots comes from memory while the sums are made. The sums are those
// of the product by itself (LargeGemm), so the weights get the same bits.
namespace martello::internal {

class UpdateProduct {
 public:
  using Sweep = void (*)(const cpu::UpdateSpan<float>&);

  UpdateProduct(const KernelPlan& plan, const UpdateLayout& layout, int variable);

  // Whether the product of a [k, rows] transposed and b [k, columns] is made by LargeGemm anyway, so that it can be.
  static bool is_chosen(const Shape& a, const Shape& b);

  int variable() const { return variable_; }
  int64_t scratch_bytes() const { return gemm_.scratch_bytes(); }
  // `whole`: weights and slots from their first element on.
  void run(const KernelRun& run, Sweep sweep, const cpu::UpdateSpan<float>& whole) const;

 private:
  int variable_, a_;  // which it is, and the input that is the first factor
  MatmulSizes sizes_;
  LargeGemm gemm_;
};

}  // namespace martello::internal
