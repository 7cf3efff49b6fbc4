#include <martello/graph/kernel_choice.h>

#include <martello/base/error.h>

#include <utility>

namespace martello {
namespace {

thread_local KernelChooser* current = nullptr;

}  // namespace

KernelChooserScope::KernelChooserScope(KernelChooser* chooser) : previous_(std::exchange(current, chooser)) {}
KernelChooserScope::~KernelChooserScope() { current = previous_; }
bool KernelChooserScope::wants_all() { return current && current->wants_all(); }

size_t choose_candidate(const KernelPlan& plan, std::span<const KernelCandidate> candidates) {
  MARTELLO_ASSERT(!candidates.empty(), plan.op.where(), "has no kernel to choose from.");
  const size_t chosen = current ? current->choose(plan, candidates) : 0;
  MARTELLO_ASSERT(chosen < candidates.size(), plan.op.where(), "kernel ", chosen, " was chosen of ", candidates.size());
  return chosen;
}

Kernel choose_kernel(const KernelPlan& plan, std::span<const KernelCandidate> candidates) {
  return candidates[choose_candidate(plan, candidates)].make();
}

}  // namespace martello
