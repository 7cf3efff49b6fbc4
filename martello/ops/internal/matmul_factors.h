#pragma once
#include <martello/base/checked.h>
#include <martello/base/threads.h>
#include <martello/kernel/cpu/strided_copy.h>
#include <martello/ops/internal/cast_loops.h>
#include <martello/ops/internal/matmul_plan.h>

#include <algorithm>

// What becomes of a product's factors before its kernel reads them, in scratch.
namespace martello::internal {

inline constexpr int kMostInputs = 4;  // factors, bias, addend

// A copy of a transposed a that is not transposed, where it is made.
class UprightA {
 public:
  UprightA(const MatmulSizes& s, int64_t element_bytes, bool is_made)
      : copy_({{s.m, 1, s.k}, {s.k, s.m, 1}}, element_bytes),
        is_made_(is_made),
        bytes_(is_made_ ? align_up(checked_mul(checked_mul(s.m, s.k), element_bytes), 64) : 0) {}

  static bool is_possible(const MatmulSizes& s, const MatmulFlags& flags) {
    return flags.transpose_a && s.batch.empty();
  }
  // A transposed a with rows of no whole vectors costs the library a seventh of its speed, and the copy next to nothing
  // beside a large product. Any other a it takes as it is.
  static bool is_faster(const MatmulSizes& s, const MatmulFlags& flags) {
    return is_possible(s, flags) && s.m % 16 != 0 && s.multiplications() > kLargeProduct;
  }
  bool is_made() const { return is_made_; }
  int64_t bytes() const { return bytes_; }
  // Calls f(run) with the copy instead of a; `inputs`: how many there are.
  template <class F>
  void run(const KernelRun& run, int inputs, F f) const {
    if (!is_made_) return f(run);
    RunTensor in[kMostInputs];
    std::copy_n(run.in_, inputs, in);
    copy_.run(in[0].data, run.scratch, run.threads);
    in[0].data = run.scratch;
    KernelRun with_copy = run;
    with_copy.in_ = in;
    with_copy.scratch = run.scratch + bytes_;
    f(with_copy);
  }

 private:
  static constexpr double kLargeProduct = 1 << 28;
  cpu::StridedCopy copy_;
  bool is_made_;
  int64_t bytes_;
};

// bf16 factors as f32 in scratch, for loops of f32; others as they are.
class WideFactors {
 public:
  explicit WideFactors(const KernelPlan& plan) {
    if (plan.in[0].dtype != bf16) return;
    for (size_t i = 0; i < 2; ++i)
      bytes_[i] = align_up(checked_mul(plan.in[i].shape.num_elements(), int64_t{sizeof(float)}), 64);
  }

  int64_t bytes() const { return checked_add(bytes_[0], bytes_[1]); }
  // Calls f(run) with f32 factors; `inputs`: how many there are.
  template <class F>
  void run(const KernelRun& run, int inputs, F f) const {
    if (bytes() == 0) return f(run);
    RunTensor in[kMostInputs];
    std::copy_n(run.in_, inputs, in);
    KernelRun wide = run;
    wide.in_ = in;
    for (int i : {0, 1}) {
      widen(run, i, reinterpret_cast<float*>(wide.scratch));
      in[i].data = wide.scratch;
      wide.scratch += bytes_[i];
    }
    f(wide);
  }

 private:
  static void widen(const KernelRun& run, int i, float* wide) {
    constexpr int64_t kChunk = 16384;
    const int64_t count = run.in_[i].count;
    const auto* x = static_cast<const uint16_t*>(run.in_[i].data);
    parallel_for(count > 4 * kChunk ? run.threads : 1, ceil_div(count, kChunk), [&](int64_t chunk) {
      const int64_t first = chunk * kChunk;
      cpu::cast_loops().widen(x + first, wide + first, std::min(kChunk, count - first));
    });
  }

  int64_t bytes_[2] = {0, 0};
};

}  // namespace martello::internal
