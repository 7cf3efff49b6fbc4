#pragma once
#include <martello/graph/kernel_choice.h>
#include <martello/runtime/kernel_choices.h>

#include <mutex>

namespace martello {

// What records of choices call a node: "matmul(f32[64, 784], f32[784, 256]) 2 threads".
std::string choice_key(const KernelPlan& plan);

// Chooses for one session and records what it chose. Any thread may ask.
class SessionChooser final : public KernelChooser {
 public:
  SessionChooser(KernelChoice policy, KernelChoices recorded);
  bool wants_all() const override { return policy_ != KernelChoice::fixed; }
  size_t choose(const KernelPlan& plan, std::span<const KernelCandidate> candidates) override;
  KernelChoices choices() const;

 private:
  KernelChoice policy_;
  KernelChoices recorded_;
  mutable std::mutex mutex_;
  KernelChoices made_;
};

// The position of the candidate that takes the least time, on tensors of its own; of nearly equal ones the first.
size_t measure_candidates(const KernelPlan& plan, std::span<const KernelCandidate> candidates);

}  // namespace martello
