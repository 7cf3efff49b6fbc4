#pragma once
#include <martello/graph/graph.h>

#include <functional>
#include <string_view>
#include <vector>

// What is current while a graph is built: a thread-local stack of scopes, each an RAII object. Scopes must close in the
// reverse order of opening, on the thread that opened them.
namespace martello {

struct GradContext;

namespace internal {
struct BuildContext;
// A scope's place on the stack of this thread. Closing one before those inside it is remembered: a destructor cannot
// throw, the next node does.
class OpenScope {
 public:
  OpenScope() = default;
  // In the current context.
  OpenScope(std::string_view kind, std::string_view name);
  // The context whose state is to be restored; null when the scope was not the innermost, or its graph scope is gone.
  BuildContext* close();

 private:
  int64_t id_ = 0;
};
}  // namespace internal

// Makes a graph current. Name, variable, device and control scopes start empty in it.
class GraphScope {
 public:
  [[nodiscard]] explicit GraphScope(Graph graph = Graph(), SourceLine line = SourceLine::current());
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;
  Graph graph() const { return graph_; }

 private:
  Graph graph_;
  internal::BuildContext* context_;
  internal::OpenScope open_;
};

// Prefixes node names with "name/", made unique: a second "fc" becomes "fc_1".
class NameScope {
 public:
  [[nodiscard]] explicit NameScope(std::string_view name, SourceLine line = SourceLine::current());
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  std::string previous_;
  internal::OpenScope open_;
};

enum class Reuse { inherit, no, yes, automatic };
std::string_view to_string(Reuse reuse);

// Prefixes variable names with "name/", never made unique: that is how variables are shared. Independent of name
// scopes.
class VariableScope {
 public:
  [[nodiscard]] explicit VariableScope(std::string_view name, Reuse reuse = Reuse::inherit,
                                       SourceLine line = SourceLine::current());
  ~VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  static std::string current_name();  // "" or "a/b"
  static Reuse current_reuse();

 private:
  std::string previous_;
  Reuse previous_reuse_;
  internal::OpenScope open_;
};

// Nodes made inside run on this device: DeviceScope on("cpu:1"). "" leaves the choice to the planner.
class DeviceScope {
 public:
  [[nodiscard]] explicit DeviceScope(std::string_view device, SourceLine line = SourceLine::current());
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  static std::string current_device();

 private:
  std::string previous_;
  internal::OpenScope open_;
};

// Values made inside that only gradients need later are not kept for them but computed again, where that is cheap and
// takes less memory, from values made outside; the results are the same bits. One scope per block keeps what flows from
// block to block; random ops give the same numbers again.
//   Tensor y = matmul(x, w);
//   RecomputeScope again;
//   x = dropout(gelu(y + b), {.rate = 0.1});  // y stays, the dropped-out activation does not
class RecomputeScope {
 public:
  [[nodiscard]] explicit RecomputeScope(SourceLine line = SourceLine::current());
  ~RecomputeScope();
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;

 private:
  int64_t previous_;
  internal::OpenScope open_;
};

// Nodes made inside run after these operations.
class ControlDependencies {
 public:
  [[nodiscard]] explicit ControlDependencies(std::vector<Operation> after, SourceLine line = SourceLine::current());
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  size_t previous_;
  internal::OpenScope open_;
};

// Makes an existing node run after another; a cycle is refused when a plan is made.
void add_control_dependency(Operation node, Operation after, SourceLine line = SourceLine::current());

// Nodes of the named op made inside are differentiated by `gradient` instead of their own: guided ReLU.
//   GradientOverride guided("relu", "guided_relu", [](const GradContext& c) { ... });
class GradientOverride {
 public:
  using Fn = std::function<TensorList(const GradContext&)>;
  [[nodiscard]] GradientOverride(std::string_view op, std::string_view name, Fn gradient,
                                 SourceLine line = SourceLine::current());
  ~GradientOverride();
  GradientOverride(const GradientOverride&) = delete;
  GradientOverride& operator=(const GradientOverride&) = delete;

 private:
  internal::OpenScope open_;
};

}  // namespace martello
