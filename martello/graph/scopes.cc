#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/tensor/device.h>

#include <utility>

namespace martello {
namespace internal {
namespace {
thread_local std::vector<std::unique_ptr<BuildContext>> context_stack;
}

BuildContext* find_build_context() { return context_stack.empty() ? nullptr : context_stack.back().get(); }

BuildContext& get_build_context() {
  BuildContext* context = find_build_context();
  if (!context)
    throw FailedPrecondition(
        "[graph] no graph is current on this thread: open one with `GraphScope scope(graph);` before building nodes.");
  return *context;
}

void push_build_context(BuildContext context) {
  context_stack.push_back(std::make_unique<BuildContext>(std::move(context)));
}

void pop_build_context() { context_stack.pop_back(); }

namespace {
// Refuses what would make names ambiguous in text, feeds and files.
void check_scope_name(std::string_view kind, std::string_view name, SourceLine line) {
  const bool is_bad = name.empty() || name.find_first_of(": \t\n\"%") != std::string_view::npos;
  if (is_bad)
    throw InvalidArgument(str("[", kind, " ", quoted(name),
                              "] a name is not empty and has no blank, colon, quote or percent sign.\n  at ", line.str()));
}
}  // namespace
}  // namespace internal

using internal::get_build_context;

Graph Graph::current() { return Graph(get_build_context().graph); }

Graph Graph::current_or_new() {
  auto* context = internal::find_build_context();
  return context ? Graph(context->graph) : Graph();
}

GraphScope::GraphScope(Graph graph, SourceLine) : graph_(std::move(graph)) {
  internal::BuildContext context;
  context.graph = graph_.impl().shared_from_this();
  internal::push_build_context(std::move(context));
}
GraphScope::~GraphScope() { internal::pop_build_context(); }

NameScope::NameScope(std::string_view name, SourceLine line) {
  auto& context = get_build_context();
  previous_ = context.name_scope;
  internal::check_scope_name("name_scope", name, line);
  if (name.back() == '/') {  // reopens exactly this scope
    context.name_scope = name;
    return;
  }
  const std::string wanted = context.name_scope + std::string(name);
  context.name_scope = context.graph->unique_scope(wanted) + "/";
}
NameScope::~NameScope() { get_build_context().name_scope = previous_; }

std::string_view to_string(Reuse reuse) {
  constexpr std::string_view names[] = {"inherit", "no", "yes", "automatic"};
  return names[static_cast<int>(reuse)];
}

VariableScope::VariableScope(std::string_view name, Reuse reuse, SourceLine line) {
  auto& context = get_build_context();
  previous_ = context.variable_scope;
  previous_reuse_ = context.reuse;
  if (!name.empty()) {
    internal::check_scope_name("variable_scope", name, line);
    if (!previous_.empty()) context.variable_scope += '/';
    context.variable_scope += name;
  }
  if (reuse != Reuse::inherit) context.reuse = reuse;
}
VariableScope::~VariableScope() {
  auto& context = get_build_context();
  context.variable_scope = previous_;
  context.reuse = previous_reuse_;
}
std::string VariableScope::current_name() { return get_build_context().variable_scope; }
Reuse VariableScope::current_reuse() { return get_build_context().reuse; }

DeviceScope::DeviceScope(std::string_view device, SourceLine line) {
  auto& context = get_build_context();
  previous_ = context.device;
  try {
    context.device = device.empty() ? std::string() : Device::parse(device).str();
  } catch (Error& e) {
    e.add_context(str("at ", line.str()));
    throw;
  }
}
DeviceScope::~DeviceScope() { get_build_context().device = previous_; }
std::string DeviceScope::current_device() { return get_build_context().device; }

ControlDependencies::ControlDependencies(std::vector<Operation> after) {
  auto& context = get_build_context();
  previous_ = context.controls.size();
  for (Operation op : after) {
    MARTELLO_CHECK(!op.is_null(), "[control_dependencies] an operation is null.");
    MARTELLO_CHECK(op.node()->graph == context.graph.get(), "[control_dependencies '", op.name(),
                   "'] the operation belongs to another graph than the current one.");
    context.controls.push_back(op.node());
  }
}
ControlDependencies::~ControlDependencies() { get_build_context().controls.resize(previous_); }

void add_control_dependency(Operation node, Operation after) {
  MARTELLO_CHECK(!node.is_null() && !after.is_null(), "[add_control_dependency] an operation is null.");
  MARTELLO_CHECK(node.node()->graph == after.node()->graph, "[add_control_dependency '", node.name(), "'] '",
                 after.name(), "' belongs to another graph.");
  node.node()->graph->check_editable("add_control_dependency");
  node.node()->controls.push_back(after.node());
  ++node.node()->graph->rewirings;
}

GradientOverride::GradientOverride(std::string_view op, std::string_view name, Fn gradient) {
  MARTELLO_CHECK(find_op(op) != nullptr, "[gradient_override '", name, "'] there is no op '", op, "'.");
  get_build_context().overrides.push_back(
      {std::string(op),
       std::make_shared<const GradientOverrideEntry>(GradientOverrideEntry{std::string(name), std::move(gradient)})});
}
GradientOverride::~GradientOverride() { get_build_context().overrides.pop_back(); }

}  // namespace martello
