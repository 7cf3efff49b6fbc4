#include <martello/graph/verify.h>
#include <martello/passes/plan_graph.h>

#include <martello/base/error.h>

#include <algorithm>
#include <chrono>

namespace martello {
namespace {

// A chain that simplify leaves dead is pruned before fuse looks at users. cse would undo recompute.
constexpr GraphPass kPasses[] = {
    {"prune", prune},
    {"fold_constants", fold_constants},
    {"simplify", simplify},
    {"channels_last", channels_last},
    {"cse", cse},
    {"recompute", recompute},
    {"lower_precision", lower_precision},
    {"fuse", fuse},
    {"assign_layout", assign_layout},
    {"place", place},
};

void check_names(const std::vector<std::string>& disabled) {
  std::vector<std::string> names;
  for (const GraphPass& pass : kPasses) names.emplace_back(pass.name);
  for (const std::string& name : disabled)
    MARTELLO_CHECK(std::find(names.begin(), names.end(), name) != names.end(), "[passes] there is no pass '", name,
                   "' among ", join(names), ".", did_you_mean(name, names));
  MARTELLO_CHECK(std::find(disabled.begin(), disabled.end(), "place") == disabled.end(),
                 "[passes] 'place' cannot be switched off: every node needs a device.");
}

}  // namespace

std::span<const GraphPass> all_passes() { return kPasses; }

std::vector<PassRun> run_passes(PlanGraph& plan, const std::vector<std::string>& disabled) {
  using Clock = std::chrono::steady_clock;
  check_names(disabled);
  std::vector<PassRun> runs;
  for (const GraphPass& pass : kPasses) {
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) continue;
    const auto start = Clock::now();
    const bool changed = pass.run(plan);
    runs.push_back({pass.name, std::chrono::duration<double, std::milli>(Clock::now() - start).count(), changed});
    if (changed) verify(plan.graph);  // a wrong graph would give wrong numbers
  }
  return runs;
}

}  // namespace martello
