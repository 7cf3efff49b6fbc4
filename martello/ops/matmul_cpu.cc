#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/threads.h>
#include <martello/graph/kernel_choice.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/internal/integer_matmul.h>
#include <martello/ops/internal/large_gemm.h>
#include <martello/ops/internal/matmul_plan.h>
#include <martello/ops/internal/short_gemm.h>
#include <martello/ops/internal/split_gemm.h>
#include <martello/ops/matmul.h>

#include <algorithm>

namespace martello {

namespace cpu {
template <>
const GemmLoops<float>& gemm_loops<float>() {
  return of_host_isa(v2::gemm_loops_f32, v3::gemm_loops_f32, v4::gemm_loops_f32);
}
template <>
const GemmLoops<double>& gemm_loops<double>() {
  return of_host_isa(v2::gemm_loops_f64, v3::gemm_loops_f64, v4::gemm_loops_f64);
}
}  // namespace cpu

namespace {

using internal::IntegerMatmul;
using internal::MatmulFlags;
using internal::MatmulSizes;

// Own loops for f64 and for products so small that a call of the library costs as much as its work.
template <class T>
class OwnGemm {
 public:
  OwnGemm(const MatmulSizes& sizes, const MatmulFlags& flags)
      : sizes_(sizes), flags_(flags), loops_(&cpu::gemm_loops<T>()) {
    is_b_transposed_ = flags.transpose_b && sizes.n > 1 && sizes.k > 1;
    // A panel of a wide b touches a page per row.
    is_packed_ = is_b_transposed_ || (sizes.m >= 64 && sizes.n * static_cast<int64_t>(sizeof(T)) > 2048);
  }

  int64_t scratch_bytes() const {
    const int64_t columns = align_up(sizes_.n, loops_->panel);
    return is_packed_ ? checked_mul(checked_mul(columns, sizes_.k), sizeof(T)) : 0;
  }

  void run(const KernelRun& run, int64_t k) const {
    for (int64_t i = 0; i < sizes_.batches; ++i) {
      const auto at = sizes_.offsets(i);
      cpu::GemmTask<T> task{.a = run.in<T>(0).data() + at.a,
                            .a_row = flags_.transpose_a ? 1 : k,
                            .a_column = flags_.transpose_a ? sizes_.m : 1,
                            .b = run.in<T>(1).data() + at.b,
                            .b_row = sizes_.n,
                            .is_packed = is_packed_,
                            .y = run.out<T>(0).data() + at.y,
                            .y_row = sizes_.n,
                            .bias = flags_.has_bias ? run.in<T>(2).data() : nullptr,
                            .relu = flags_.relu,
                            .k = k,
                            .first_row = 0,
                            .last_row = 0,
                            .first_column = 0,
                            .last_column = 0,
                            .addend = flags_.has_addend ? run.in<T>(flags_.addend()).data() + at.y : nullptr};
      if (is_packed_) task.b = pack(run, task.b, k);
      multiply(run.threads, task);
    }
  }

 private:
  const T* pack(const KernelRun& run, const T* b, int64_t k) const {
    T* panels = reinterpret_cast<T*>(run.scratch);
    const int64_t width = loops_->panel, row = is_b_transposed_ ? 1 : sizes_.n, column = is_b_transposed_ ? k : 1;
    const int threads = sizes_.n * k > kForkElements ? run.threads : 1;
    parallel_for(threads, ceil_div(sizes_.n, width), [&](int64_t i) {
      const int64_t first = i * width;
      loops_->pack(b + first * column, row, column, k, std::min(width, sizes_.n - first), panels + first * k);
    });
    return panels;
  }

  void multiply(int threads, const cpu::GemmTask<T>& all) const {
    const int64_t rows = ceil_div(sizes_.m, kRows), width = loops_->panel * kPanels,
                  columns = ceil_div(sizes_.n, width);
    const double work = static_cast<double>(sizes_.m) * static_cast<double>(sizes_.n) * static_cast<double>(all.k);
    parallel_for(work > kForkWork ? threads : 1, rows * columns, [&](int64_t i) {
      cpu::GemmTask<T> task = all;
      task.first_row = i % rows * kRows;
      task.last_row = std::min(sizes_.m, task.first_row + kRows);
      task.first_column = i / rows * width;
      task.last_column = std::min(sizes_.n, task.first_column + width);
      loops_->rows(task);
    });
  }

  static constexpr int64_t kRows = 48, kPanels = 4, kForkElements = 16384;
  static constexpr double kForkWork = 131072;
  MatmulSizes sizes_;
  MatmulFlags flags_;
  const cpu::GemmLoops<T>* loops_;
  bool is_b_transposed_ = false, is_packed_ = false;
};

// Rows that depend on data, as they are in a run.
class RunRows {
 public:
  RunRows(const KernelPlan& plan, const MatmulFlags& flags) : k_(plan.in[0].shape[flags.transpose_a ? -2 : -1]) {
    const int ra = plan.in[0].shape.rank(), rb = plan.in[1].shape.rank(), ry = plan.out[0].shape.rank();
    where_ = plan.op.where();
    planned_ = plan.out[0].shape[0];
    is_a_summed_ = ra == 2 && rb == 2 && flags.transpose_a;
    is_b_summed_ = ra == 2 && rb == 2 && !flags.transpose_b;
    const auto spans = [&](int i, int rank) {
      return rank == ry && plan.in[static_cast<size_t>(i)].shape[0] == planned_;
    };
    if (ry > 2 ? spans(0, ra) : !flags.transpose_a) source_ = 0;
    else if (ry > 2 && spans(1, rb)) source_ = 1;
  }

  // Length of the sums; states the rows of y.
  int64_t begin(const KernelRun& run) const {
    run.set_out_rows(0, source_ < 0 ? planned_ : run.in_rows(source_));
    const int64_t ka = is_a_summed_ ? run.in_rows(0) : k_, kb = is_b_summed_ ? run.in_rows(1) : k_;
    MARTELLO_CHECK(ka == kb, where_, "the sums run over ", ka, " rows or columns of a but ", kb, " of b in this run.");
    return ka;
  }
  int64_t planned_k() const { return k_; }

 private:
  std::string where_;
  int64_t k_, planned_ = 0;
  int source_ = -1;
  bool is_a_summed_ = false, is_b_summed_ = false;
};

template <class Loops>
Kernel own_kernel(const KernelPlan& plan, const MatmulSizes& sizes, const MatmulFlags& flags) {
  const Loops loops(sizes, flags);
  const internal::WideFactors wide(plan);
  Kernel kernel([=, rows = RunRows(plan, flags)](const KernelRun& run) {
    const int64_t k = rows.begin(run);
    wide.run(run, flags.inputs(), [&](const KernelRun& f32_run) { loops.run(f32_run, k); });
  });
  return kernel.scratch(checked_add(wide.bytes(), loops.scratch_bytes()));
}

// Loops for the planned k, and others for fewer rows.
template <class Whole>
Kernel whole_kernel(const KernelPlan& plan, const MatmulSizes& sizes, const MatmulFlags& flags, const Whole& whole) {
  const OwnGemm<float> part(sizes, flags);
  Kernel kernel([=, rows = RunRows(plan, flags)](const KernelRun& run) {
    const int64_t k = rows.begin(run);
    if (k == rows.planned_k()) whole.run(run);
    else part.run(run, k);
  });
  return kernel.scratch(std::max(whole.scratch_bytes(), part.scratch_bytes()));
}

Kernel library_kernel(const KernelPlan& plan, const MatmulSizes& sizes, const MatmulFlags& flags,
                      const internal::UprightA& upright) {
  using onednn::Role, onednn::Side;
  MatmulFlags asked = flags;
  asked.transpose_a = flags.transpose_a && !upright.is_made();
  std::vector<onednn::Binding> bindings = {
      {Role::src, Side::input, 0}, {Role::weights, Side::input, 1}, {Role::dst, Side::output, 0}};
  if (flags.has_bias) bindings.push_back({Role::bias, Side::input, 2});
  const Kernel whole = onednn::make_kernel(internal::library_matmul(plan, sizes, asked), bindings);
  // The library's kernel has a fixed k; a sum over fewer rows is ours.
  const OwnGemm<float> part(sizes, flags);
  const internal::WideFactors wide(plan);
  const RunRows rows(plan, flags);
  const int64_t count = plan.out[0].shape.num_elements();
  const auto bind = [=](const KernelRun& addresses) -> BoundKernel {
    return [=, call = whole.bind(addresses)](const KernelRun& run) {
      const int64_t k = rows.begin(run);
      if (k != rows.planned_k())
        return wide.run(run, flags.inputs(), [&](const KernelRun& f32_run) { part.run(f32_run, k); });
      upright.run(run, flags.inputs(), call);
      const float* addend = flags.has_addend ? run.in<float>(flags.addend()).data() : nullptr;
      internal::finish_in_place(run, run.out<float>(0).data(), addend, flags.relu, count);
    };
  };
  const int64_t scratch =
      std::max(upright.bytes() + whole.scratch_bytes(), checked_add(wide.bytes(), part.scratch_bytes()));
  return Kernel::with_bind(bind).scratch(scratch).implementation(whole.implementation());
}

constexpr char kOwn[] = "own";  // the names of our loops begin so

// y is f32, its factors are too or bf16. The best by fixed rules first.
std::vector<KernelCandidate> f32_candidates(const KernelPlan& plan, const MatmulSizes& sizes,
                                            const MatmulFlags& flags) {
  using internal::LargeGemm, internal::ShortGemm, internal::SplitGemm, internal::UprightA;
  const bool has_library = plan.in[0].dtype == f32 || onednn::has_bf16(), is_empty = sizes.multiplications() == 0;
  const auto own = [=, &plan] { return own_kernel<OwnGemm<float>>(plan, sizes, flags); };
  const auto library = [=, &plan](bool is_upright) {
    return [=, &plan] {
      return library_kernel(plan, sizes, flags, UprightA(sizes, size_of(plan.in[0].dtype), is_upright));
    };
  };
  std::vector<KernelCandidate> list{{kOwn, own}};
  if (!has_library || is_empty) return list;
  const bool is_upright = UprightA::is_faster(sizes, flags);
  list.push_back({is_upright ? "oneDNN over an upright a" : "oneDNN", library(is_upright)});
  if (sizes.multiplications() > internal::kSmallProduct) std::swap(list[0], list[1]);
  if (UprightA::is_possible(sizes, flags))
    list.push_back({is_upright ? "oneDNN" : "oneDNN over an upright a", library(!is_upright)});
  if (plan.in[0].dtype != f32) return list;
  const auto put_first = [&](const char* name, const auto& loops) {
    list.insert(list.begin(), {name, [=, &plan] { return whole_kernel(plan, sizes, flags, loops); }});
  };
  if (LargeGemm::is_faster(sizes, flags)) put_first("own in panels", LargeGemm(sizes, flags, plan.threads));
  else if (ShortGemm::is_faster(sizes, flags)) put_first("own by rows", ShortGemm(sizes, plan.threads));
  else if (SplitGemm::is_faster(sizes, flags)) put_first("own in halves", SplitGemm(sizes, flags, plan.threads));
  return list;
}

Kernel f32_kernel(const KernelPlan& plan, const MatmulSizes& sizes, const MatmulFlags& flags) {
  return choose_kernel(plan, f32_candidates(plan, sizes, flags));
}

}  // namespace

void internal::finish_in_place(const KernelRun& run, float* y, const float* addend, bool relu, int64_t count) {
  constexpr int64_t kChunk = 16384;
  if (!addend && !relu) return;
  parallel_for(count > 4 * kChunk ? run.threads : 1, ceil_div(count, kChunk), [&](int64_t i) {
    const int64_t first = i * kChunk;
    cpu::gemm_loops<float>().finish(y + first, 1, std::min(kChunk, count - first), nullptr,
                                    addend ? addend + first : nullptr, relu);
  });
}

Kernel internal::plan_matmul(const KernelPlan& plan, const MatmulFlags& flags) {
  const MatmulSizes sizes(plan, flags);
  switch (plan.out[0].dtype) {
    case DType::f32: return f32_kernel(plan, sizes, flags);
    case DType::f64: return own_kernel<OwnGemm<double>>(plan, sizes, flags);
    case DType::i32: return own_kernel<IntegerMatmul<int32_t>>(plan, sizes, flags);
    case DType::i64: return own_kernel<IntegerMatmul<int64_t>>(plan, sizes, flags);
    default: break;
  }
  MARTELLO_ASSERT(false, plan.op.where(), plan.out[0].dtype, " passed the shape function.");
  return Kernel();
}

bool internal::is_own_product(const KernelPlan& plan, const MatmulFlags& flags) {
  if (plan.out[0].dtype != f32) return true;
  const auto list = f32_candidates(plan, MatmulSizes(plan, flags), flags);
  return list[choose_candidate(plan, list)].name.starts_with(kOwn);
}

Kernel internal::plan_product_by_rules(const KernelPlan& plan, const MatmulFlags& flags) {
  return f32_candidates(plan, MatmulSizes(plan, flags), flags)[0].make();
}

Kernel matmul_cpu(const KernelPlan& plan) {
  const auto& attrs = plan.attrs<MatmulAttrs>();
  return internal::plan_matmul(
      plan, {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b, .has_addend = plan.in.size() == 3});
}

}  // namespace martello
