#include <martello/base/checked.h>
#include <martello/base/internal/clock.h>
#include <martello/base/log.h>
#include <martello/base/threads.h>
#include <martello/runtime/internal/kernel_chooser.h>
#include <martello/tensor/buffer.h>

#include <algorithm>
#include <limits>

namespace martello {
namespace {

// Floating numbers are neither 0 nor odd, so that no kernel has an easy time; all others, such as indices, are 0.
void fill(const TensorSpec& spec, RunTensor& tensor) {
  std::fill_n(static_cast<std::byte*>(tensor.data), tensor.count * size_of(spec.dtype), std::byte{0});
  visit_dtype(spec.dtype, [&]<class T>(T) {
    if (!is_floating(spec.dtype)) return;
    T* data = static_cast<T*>(tensor.data);
    for (int64_t i = 0; i < tensor.count; ++i) data[i] = T(0.5f + 0.0625f * static_cast<float>(i % 13));
  });
}

// Tensors for a node that is timed.
class TrialTensors {
 public:
  explicit TrialTensors(std::span<const TensorSpec> specs) {
    for (const TensorSpec& spec : specs) {
      const int64_t count = spec.shape.num_elements();
      buffers_.emplace_back(std::max<int64_t>(checked_mul(count, size_of(spec.dtype)), 1));
      tensors_.push_back({buffers_.back().data(), count, spec.shape.rank() > 0 ? spec.shape[0] : 1});
      fill(spec, tensors_.back());
    }
  }
  RunTensor* data() { return tensors_.data(); }

 private:
  std::vector<Buffer> buffers_;
  std::vector<RunTensor> tensors_;
};

// One candidate with memory of its own.
struct Trial {
  BoundKernel bound;
  KernelRun run;
  Buffer scratch;
  double best = std::numeric_limits<double>::infinity();

  Trial(const Kernel& kernel, const KernelRun& tensors)
      : run(tensors), scratch(std::max<int64_t>(kernel.scratch_bytes(), 1)) {
    run.scratch = scratch.data();
    bound = kernel.bind(run);
    bound(run);  // the first run finds cold memory
    time();
  }
  void time() {
    const double start = internal::now_seconds();
    bound(run);
    best = std::min(best, internal::now_seconds() - start);
  }
};

// In turn, so that a busy moment of the machine hits all of them.
void time_in_turn(std::vector<Trial>& trials) {
  constexpr int kRounds = 8;
  constexpr double kHopeless = 1.5, kSeconds = 0.05;
  const auto is_faster = [](const Trial& a, const Trial& b) { return a.best < b.best; };
  const double best = std::min_element(trials.begin(), trials.end(), is_faster)->best;
  const double end = internal::now_seconds() + kSeconds * static_cast<double>(trials.size());
  for (int round = 0; round < kRounds && internal::now_seconds() < end; ++round)
    for (Trial& trial : trials)
      if (trial.best < kHopeless * best) trial.time();
}

}  // namespace

size_t measure_candidates(const KernelPlan& plan, std::span<const KernelCandidate> candidates) {
  if (candidates.size() == 1) return 0;
  constexpr double kClearly = 0.97;
  const ThreadCount team(plan.threads);
  TrialTensors in(plan.in), out(plan.out);
  RunParams params;
  std::vector<Trial> trials;
  for (const KernelCandidate& candidate : candidates)
    trials.emplace_back(candidate.make(), KernelRun{in.data(), out.data(), nullptr, &params, plan.threads});
  time_in_turn(trials);
  size_t chosen = 0;
  for (size_t i = 0; i < trials.size(); ++i) {
    logger::detail("plan", plan.op.where(), candidates[i].name, ": ", trials[i].best * 1e6, " us");
    if (trials[i].best < kClearly * trials[chosen].best) chosen = i;
  }
  return chosen;
}

}  // namespace martello
