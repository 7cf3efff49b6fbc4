#include <martello/tower/tower_context.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/build_context.h>

#include <optional>

namespace martello {
namespace {

// Of this thread, innermost last; each of another graph.
thread_local std::vector<TowerContext*> open_towers;

Graph root_graph(const Graph& graph) {
  Graph::Impl* impl = &graph.impl();
  while (impl->parent) impl = impl->parent;
  return Graph(impl->shared_from_this());
}

TowerContext* find_tower_of(const Graph& graph) {
  for (auto it = open_towers.rbegin(); it != open_towers.rend(); ++it)
    if ((*it)->graph() == graph) return *it;
  return nullptr;
}

std::string names_of(const std::vector<Variable>& list) {
  std::vector<std::string> names;
  for (const Variable& v : list) names.push_back(str("'", v.handle().name(), "'"));
  return join(names);
}

bool makes_own_variables(bool is_training, const TowerOptions& options) {
  if (VariableScope::current_reuse() == Reuse::yes) return false;
  return !is_training || options.index == 0 || !options.variable_scope.empty();
}

template <class T>
void restore(const Collections& before, Collections& now, CollectionKey<T> key, const std::string& tower) {
  std::vector<T> old = before.get(key);
  const size_t added = now.get(key).size() - std::min(old.size(), now.get(key).size());
  if (added == 0) return;
  logger::info("[tower '", tower, "'] ", added, " new in collection ", key.name, ", dropped: only the main training ",
               "tower adds to it.");
  now.set(key, std::move(old));
}

}  // namespace

TowerContext::TowerContext(std::string_view name, bool is_training, TowerOptions options, SourceLine line)
    : graph_(root_graph(Graph(internal::get_build_context("tower", name, line).graph))),
      name_(name),
      is_training_(is_training),
      options_(std::move(options)),
      has_own_variables_(makes_own_variables(is_training, options_)),
      before_(graph_.collections()) {
  with_line(line, [&] {
    check_options(line);
    open_scopes(line);
  });
  open_towers.push_back(this);
}

void TowerContext::check_options(SourceLine) const {
  const std::string where = str("[tower '", name_, "'] ");
  if (const TowerContext* outer = find_tower_of(graph_))
    throw FailedPrecondition(
        str(where, "is opened inside tower '", outer->name(), "'. Towers do not nest: close that one first."));
  const std::string scope = VariableScope::current_name();
  const Reuse reuse = VariableScope::current_reuse();
  MARTELLO_CHECK(options_.total > 0 && 0 <= options_.index && options_.index < options_.total, where, "index ",
                 options_.index, " of ", options_.total, " towers. Set .index below .total.");
  MARTELLO_CHECK(options_.variable_scope.empty() || !name_.empty(), where, "variable scope '", options_.variable_scope,
                 "' needs a tower with a name.");
  if (!is_training_) return;
  MARTELLO_CHECK(scope.empty(), where, "a training tower is opened inside variable scope '", scope,
                 "'. Open it outside, so that variables of all towers have the same names.");
  MARTELLO_CHECK(options_.variable_scope.empty() || reuse == Reuse::no, where, "has variables of its own (scope '",
                 options_.variable_scope, "') but is opened under reuse=", reuse, ". Open it under Reuse::no.");
}

struct TowerContext::Scopes {
  std::optional<VariableScope> variables;
  std::optional<NameScope> names;
  std::optional<VariableGetterScope> getter;
};

void TowerContext::open_scopes(SourceLine line) {
  auto& context = internal::get_build_context("tower", name_, line);
  if (name_.empty()) {
    MARTELLO_CHECK(context.name_scope.empty(), "[tower ''] a tower without a name is opened inside name scope '",
                   context.name_scope, "'. Give it a name, or open it outside.");
  } else {
    const std::string unique = graph_.impl().unique_scope(name_);
    MARTELLO_CHECK(unique == name_, "[tower '", name_, "'] this graph has a name scope '", name_,
                   "' already: looking up a tensor by name would find that one's. Use a different tower name.");
  }
  scopes_ = make_owned<Scopes>();
  scopes_->variables.emplace(options_.variable_scope, Reuse::inherit, line);
  if (!name_.empty()) scopes_->names.emplace(name_ + "/", line);
  if (has_own_variables_) return;
  // At the variable's own line, not when the tower ends.
  scopes_->getter.emplace([this](const NextGetter& next, const std::string& full_name, const VariableOptions& options) {
    const bool exists = graph_.find_operation(full_name).has_value();
    MARTELLO_CHECK(exists || !options.trainable, "[get_variable '", full_name, "'] tower '", name_,
                   "' shares the variables of another tower and cannot make trainable ones. Build the same model in "
                   "every tower.");
    return next(full_name, options);
  });
}

TowerContext::~TowerContext() {
  std::erase(open_towers, this);
  if (const auto unshared = unshared_variables(); !unshared.empty())
    logger::error("[tower '", name_, "'] made trainable variables that it should have shared: ", names_of(unshared));
  if (!graph_.is_finalized()) restore_collections();
}

void TowerContext::restore_collections() {
  if (is_main_training_tower()) return;
  auto& now = graph_.collections();
  restore(before_, now, kSummaries, name_);
  restore(before_, now, kMovingSummaryOps, name_);
  if (!is_training_) restore(before_, now, kUpdateOps, name_);
}

std::vector<Variable> TowerContext::unshared_variables() const {
  return has_own_variables_ ? std::vector<Variable>() : get_collection_in_tower(kTrainableVariables);
}

void TowerContext::check_variables() const {
  const auto unshared = unshared_variables();
  MARTELLO_CHECK(unshared.empty(), "[tower '", name_, "'] shares the variables of another tower but made trainable ",
                 "ones: ", names_of(unshared), ". Make them by get_variable(), with the same names in every tower.");
}

std::string TowerContext::without_tower(std::string_view scope) const {
  const std::string& own = options_.variable_scope;
  const bool is_inside = !own.empty() && scope.starts_with(own) && scope.substr(own.size()).starts_with("/");
  return std::string(is_inside ? scope.substr(own.size() + 1) : scope);
}

TowerContext* find_current_tower_context() {
  auto* context = internal::find_build_context();
  return context ? find_tower_of(root_graph(Graph(context->graph))) : nullptr;
}

TowerContext& get_current_tower_context(std::string_view asker, SourceLine line) {
  if (TowerContext* tower = find_current_tower_context()) return *tower;
  FailedPrecondition error(str("[", asker, "] is called outside a tower, so whether to train is unknown. Open one: ",
                               "`TowerContext tower(\"\", true);`."));
  error.add_line(LineScope::effective(line));
  throw error;
}

}  // namespace martello
