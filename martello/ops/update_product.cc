#include <martello/kernel/cpu/flush_denormals.h>
#include <martello/ops/internal/update_product.h>

namespace martello::internal {
namespace {

constexpr MatmulFlags kFlags{.transpose_a = true};

MatmulSizes sizes_of(const KernelPlan& plan, int a, int variable) {
  KernelPlan product = plan;
  product.in = plan.in.subspan(static_cast<size_t>(a), 2);
  product.out = plan.in.subspan(static_cast<size_t>(variable), 1);
  return MatmulSizes(product, kFlags);
}

class SweepSink : public GemmSink {
 public:
  SweepSink(UpdateProduct::Sweep sweep, const cpu::UpdateSpan<float>& whole, int64_t columns)
      : sweep_(sweep), whole_(whole), columns_(columns) {}

  void ask(const GemmPiece& piece, cpu::GemmAhead& ahead) const override {
    const int64_t at = piece.first_row * columns_ + piece.first_column;
    const auto add = [&](const float* first) {
      add_ahead(ahead, first + at, piece.rows, columns_, piece.columns, true);
    };
    add(whole_.w);
    for (const float* slot : whole_.slots)
      if (slot) add(slot);
  }

  void take(const GemmPiece& piece, const float* sums, int64_t row) const override {
    const cpu::FlushDenormals flush;
    const int64_t at = piece.first_row * columns_ + piece.first_column;
    cpu::UpdateSpan<float> span = whole_;
    span.g = sums;
    span.w += at;
    for (float*& slot : span.slots)
      if (slot) slot += at;
    span.rows = piece.rows;
    span.row = columns_;
    span.g_row = row;
    span.count = piece.columns;
    sweep_(span);
  }

 private:
  UpdateProduct::Sweep sweep_;
  const cpu::UpdateSpan<float>& whole_;
  int64_t columns_;
};

}  // namespace

bool UpdateProduct::is_chosen(const Shape& a, const Shape& b) {
  const TensorSpec in[] = {{.shape = a, .dtype = f32}, {.shape = b, .dtype = f32}};
  const TensorSpec out[] = {{.shape = Shape(a[1], b[1]), .dtype = f32}};
  const MatmulSizes sizes(KernelPlan{.op = {}, .in = in, .out = out}, kFlags);
  return LargeGemm::is_faster(sizes, kFlags) && sizes.k <= LargeGemm::kMostDepth;
}

UpdateProduct::UpdateProduct(const KernelPlan& plan, const UpdateLayout& layout, int variable)
    : variable_(variable),
      a_(layout.gradient(variable)),
      sizes_(sizes_of(plan, a_, layout.variable(variable))),
      gemm_(sizes_, kFlags, plan.threads) {}

void UpdateProduct::run(const KernelRun& run, Sweep sweep, const cpu::UpdateSpan<float>& whole) const {
  KernelRun product = run;
  product.in_ = run.in_ + a_;
  const SweepSink sink(sweep, whole, sizes_.n);
  gemm_.run(product, &sink);
}

}  // namespace martello::internal
