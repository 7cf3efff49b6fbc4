#include <martello/base/error.h>
#include <martello/graph/build_context.h>
#include <martello/tensor/device.h>

#include <algorithm>
#include <utility>

namespace martello {
namespace internal {
namespace {

struct OpenEntry {
  int64_t id;
  std::string what;  // "name_scope 'fc'"
  BuildContext* context;
};

thread_local std::vector<std::unique_ptr<BuildContext>> context_stack;
thread_local std::vector<OpenEntry> open_scopes;
thread_local std::string scope_fault;  // what was closed too early; until all scopes are closed
thread_local int64_t last_scope = 0;

std::string component(std::string_view kind, std::string_view name) {
  return name.empty() ? str("[", kind, "] ") : str("[", kind, " '", name, "'] ");
}

}  // namespace

OpenScope::OpenScope(std::string_view kind, std::string_view name) : id_(++last_scope) {
  open_scopes.push_back({id_, name.empty() ? std::string(kind) : str(kind, " '", name, "'"), find_build_context()});
}

BuildContext* OpenScope::close() {
  const auto it = std::find_if(open_scopes.begin(), open_scopes.end(), [&](const auto& s) { return s.id == id_; });
  if (it == open_scopes.end()) return nullptr;  // of another thread
  const auto inner = it + 1;
  if (inner != open_scopes.end() && scope_fault.empty())
    scope_fault = str(it->what, " was closed before ", inner->what,
                      ", which was opened inside it. Close scopes in the reverse order of opening.");
  const bool is_innermost = inner == open_scopes.end();
  BuildContext* context = it->context;
  open_scopes.erase(it);
  if (open_scopes.empty()) scope_fault.clear();
  return is_innermost && context == find_build_context() ? context : nullptr;
}

BuildContext* find_build_context() { return context_stack.empty() ? nullptr : context_stack.back().get(); }

BuildContext& get_build_context(std::string_view kind, std::string_view name, SourceLine line) {
  BuildContext* context = find_build_context();
  if (context && scope_fault.empty()) [[likely]]
    return *context;
  FailedPrecondition error(str(
      component(kind, name),
      context ? scope_fault
              : "no graph is current on this thread: open one with `GraphScope scope(graph);` before building nodes."));
  error.add_line(line);
  throw error;
}

BuildContext* push_build_context(BuildContext context) {
  context_stack.push_back(std::make_unique<BuildContext>(std::move(context)));
  return context_stack.back().get();
}

void pop_build_context(BuildContext* context) {
  std::erase_if(context_stack, [&](const auto& c) { return c.get() == context; });
}

namespace {
// Refuses what would make names ambiguous in text, feeds and files.
void check_scope_name(std::string_view kind, std::string_view name, SourceLine line) {
  const bool is_bad = name.empty() || name.find_first_of(": \t\n\"%") != std::string_view::npos;
  if (is_bad)
    throw InvalidArgument(str("[", kind, " ", quoted(name),
                              "] a name is not empty and has no blank, colon, quote or percent sign.\n  at ",
                              line.str()));
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
  context_ = internal::push_build_context(std::move(context));
  open_ = internal::OpenScope("graph_scope", "");
}
GraphScope::~GraphScope() {
  open_.close();
  internal::pop_build_context(context_);
}

NameScope::NameScope(std::string_view name, SourceLine line) {
  auto& context = get_build_context("name_scope", name, line);
  internal::check_scope_name("name_scope", name, line);
  previous_ = context.name_scope;
  const bool reopens = name.back() == '/';  // exactly this scope
  context.name_scope = reopens ? std::string(name) : context.graph->unique_scope(previous_ + std::string(name)) + "/";
  open_ = internal::OpenScope("name_scope", name);
}
NameScope::~NameScope() {
  if (auto* context = open_.close()) context->name_scope = previous_;
}

std::string_view to_string(Reuse reuse) {
  constexpr std::string_view names[] = {"inherit", "no", "yes", "automatic"};
  return names[static_cast<int>(reuse)];
}

VariableScope::VariableScope(std::string_view name, Reuse reuse, SourceLine line) {
  auto& context = get_build_context("variable_scope", name, line);
  if (!name.empty()) internal::check_scope_name("variable_scope", name, line);
  previous_ = context.variable_scope;
  previous_reuse_ = context.reuse;
  if (!name.empty() && !previous_.empty()) context.variable_scope += '/';
  context.variable_scope += name;
  if (reuse != Reuse::inherit) context.reuse = reuse;
  open_ = internal::OpenScope("variable_scope", name);
}
VariableScope::~VariableScope() {
  auto* context = open_.close();
  if (!context) return;
  context->variable_scope = previous_;
  context->reuse = previous_reuse_;
}
std::string VariableScope::current_name() { return get_build_context().variable_scope; }
Reuse VariableScope::current_reuse() { return get_build_context().reuse; }

DeviceScope::DeviceScope(std::string_view device, SourceLine line) {
  auto& context = get_build_context("device_scope", device, line);
  previous_ = context.device;
  context.device = device.empty() ? std::string() : with_line(line, [&] { return Device::parse(device).str(); });
  open_ = internal::OpenScope("device_scope", device);
}
DeviceScope::~DeviceScope() {
  if (auto* context = open_.close()) context->device = previous_;
}
std::string DeviceScope::current_device() { return get_build_context().device; }

RecomputeScope::RecomputeScope(SourceLine line) {
  auto& context = get_build_context("recompute_scope", "", line);
  previous_ = context.recompute_scope;
  context.recompute_scope = context.graph->next_recompute_scope++;
  open_ = internal::OpenScope("recompute_scope", "");
}
RecomputeScope::~RecomputeScope() {
  if (auto* context = open_.close()) context->recompute_scope = previous_;
}

ControlDependencies::ControlDependencies(std::vector<Operation> after, SourceLine line) {
  auto& context = get_build_context("control_dependencies", "", line);
  previous_ = context.controls.size();
  with_line(line, [&] {
    for (size_t i = 0; i < after.size(); ++i) {
      MARTELLO_CHECK(!after[i].is_null(), "[control_dependencies] operation ", i, " of ", after.size(),
                     " is null: it was never assigned.");
      MARTELLO_CHECK(
          after[i].node()->graph == context.graph.get(), "[control_dependencies '", after[i].name(),
          "'] the operation belongs to another graph than the current one. Build it inside this GraphScope.");
    }
  });
  for (const Operation& op : after) context.controls.push_back(op.node());
  open_ = internal::OpenScope("control_dependencies", "");
}
ControlDependencies::~ControlDependencies() {
  if (auto* context = open_.close()) context->controls.resize(previous_);
}

void add_control_dependency(Operation node, Operation after, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(!node.is_null() && !after.is_null(), "[add_control_dependency] ",
                   node.is_null() ? "the node" : "what it should run after", " is null: it was never assigned.");
    const std::string where = str("add_control_dependency '", node.name(), "'");
    MARTELLO_CHECK(node.node()->graph == after.node()->graph, "[", where, "] '", after.name(),
                   "' belongs to another graph. Control edges join nodes of one graph.");
    node.node()->graph->check_editable(where);
    node.node()->controls.push_back(after.node());
    ++node.node()->graph->rewirings;
  });
}

GradientOverride::GradientOverride(std::string_view op, std::string_view name, Fn gradient, SourceLine line) {
  auto& context = get_build_context("gradient_override", name, line);
  with_line(line, [&] {
    std::vector<std::string> known;
    for (const OpDef* def : all_ops()) known.emplace_back(def->name);
    MARTELLO_CHECK(find_op(op) != nullptr, "[gradient_override '", name, "'] there is no op '", op, "'.",
                   did_you_mean(op, known));
    MARTELLO_CHECK(gradient, "[gradient_override '", name, "'] its function for op '", op, "' is empty.");
  });
  context.overrides.push_back({std::string(op), std::make_shared<const GradientOverrideEntry>(
                                                    GradientOverrideEntry{std::string(name), std::move(gradient)})});
  open_ = internal::OpenScope("gradient_override", name);
}
GradientOverride::~GradientOverride() {
  if (auto* context = open_.close()) context->overrides.pop_back();
}

}  // namespace martello
