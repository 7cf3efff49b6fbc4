#include <martello/runtime/internal/kernel_chooser.h>

#include <martello/base/error.h>
#include <martello/graph/internal/graph_text.h>

namespace martello {
namespace {

std::string specs_text(std::span<const TensorSpec> specs) {
  std::vector<std::string> list;
  for (const TensorSpec& s : specs) list.push_back(str(s.dtype, s.shape));
  return join(list);
}

// The position of the candidate of that name.
size_t find_recorded(const KernelPlan& plan, std::span<const KernelCandidate> candidates, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].name == name) return i;
    names.push_back(candidates[i].name);
  }
  throw InvalidArgument(str(plan.op.where(), "a recorded choice asks for the kernel '", name, "', but there are only '",
                            join(names, "', '"), "' here.", did_you_mean(name, names), " Measure again."));
}

}  // namespace

std::string choice_key(const KernelPlan& plan) {
  const std::string attrs = internal::attrs_text(*plan.attributes, {.lines = false}, 0);
  return str(plan.op.type, "(", specs_text(plan.in), ")", attrs.empty() ? "" : " ", attrs, " -> ", specs_text(plan.out),
             " ", plan.threads, plan.threads == 1 ? " thread" : " threads");
}

SessionChooser::SessionChooser(KernelChoice policy, KernelChoices recorded)
    : policy_(policy), recorded_(std::move(recorded)) {
  MARTELLO_CHECK(policy_ != KernelChoice::fixed || recorded_.size() == 0, "[session] ", recorded_.size(),
                 " recorded kernel choices were given, but kernel_choice is fixed and would not take them. Set it to "
                 "measured or replayed.");
}

size_t SessionChooser::choose(const KernelPlan& plan, std::span<const KernelCandidate> candidates) {
  const std::string key = choice_key(plan);
  const std::lock_guard lock(mutex_);
  const std::string* name = recorded_.find(key) ? recorded_.find(key) : made_.find(key);
  MARTELLO_CHECK(name || policy_ != KernelChoice::replayed, plan.op.where(), "no kernel is recorded for ", key,
                 " among ", recorded_.size(), " choices. Set kernel_choice to measured, or record this graph.");
  size_t chosen = 0;
  if (name && policy_ != KernelChoice::fixed) chosen = find_recorded(plan, candidates, *name);
  else if (policy_ == KernelChoice::measured) chosen = measure_candidates(plan, candidates);
  made_.set(key, candidates[chosen].name);
  return chosen;
}

KernelChoices SessionChooser::choices() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace martello
