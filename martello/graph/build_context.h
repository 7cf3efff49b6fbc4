#pragma once
#include <martello/graph/node.h>

#include <functional>

// What the scopes of this thread add up to. Internal: model code uses the RAII classes of scopes.h.
namespace martello::internal {

struct ScopedOverride {
  std::string op;
  std::shared_ptr<const GradientOverrideEntry> entry;
};

struct BuildContext {
  std::shared_ptr<Graph::Impl> graph;
  std::string name_scope;  // "" or "a/b/"
  std::string variable_scope;
  Reuse reuse = Reuse::no;
  std::string device;
  int64_t recompute_scope = 0;
  bool is_backward = false;  // gradients() is at work
  std::vector<OpNode*> controls;
  std::vector<ScopedOverride> overrides;
  std::vector<std::shared_ptr<const void>> variable_getters;  // of ops/variable.h, innermost last
};

// Null when no GraphScope is open on this thread.
BuildContext* find_build_context();
// Throws, for whoever asks, a text that says how to open one, or which scopes were closed in the wrong order.
BuildContext& get_build_context(std::string_view kind = "graph", std::string_view name = {}, SourceLine line = {});
BuildContext* push_build_context(BuildContext context);
void pop_build_context(BuildContext* context);

}  // namespace martello::internal
