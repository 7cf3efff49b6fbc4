#include <martello/tower/internal/tower_rules.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/graph/write_targets.h>

#include <algorithm>
#include <unordered_set>

namespace martello::internal {
namespace {

constexpr std::string_view kReserved = "tower";

std::string rule(int number, const TowerContext& tower) {
  return str("[tower '", tower.name(), "'] rule ", number, " of tower functions: ");
}

bool has_part(std::string_view path, std::string_view part) {
  for (const std::string& p : split(path, '/'))
    if (p == part) return true;
  return false;
}

// The name scopes of a node, without the tower's own.
std::string_view scopes_of(std::string_view name, const std::string& tower) {
  if (!tower.empty() && name.starts_with(tower + "/")) name.remove_prefix(tower.size() + 1);
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

// What the outputs are computed from, down to the inputs, in the order of creation. Control edges are left out: only
// the main tower has those of updates and summaries.
std::vector<ModelNode> model_nodes(const TensorList& inputs, const TensorList& outputs) {
  std::unordered_set<const OpNode*> seen;
  for (const Tensor& t : inputs) seen.insert(t.node());
  std::vector<const OpNode*> found, todo;
  const auto visit = [&](const Tensor& t) {
    if (!t.is_null() && seen.insert(t.node()).second) todo.push_back(t.node());
  };
  for (const Tensor& t : outputs) visit(t);
  while (!todo.empty()) {
    const OpNode* node = todo.back();
    todo.pop_back();
    if (node->def != &op_variable) found.push_back(node);
    for (const Tensor& t : node->inputs) visit(t);
  }
  std::sort(found.begin(), found.end(), [](const OpNode* a, const OpNode* b) { return a->id < b->id; });
  std::vector<ModelNode> nodes;
  for (const OpNode* n : found) nodes.push_back({n->name, n->def->name, n->line});
  return nodes;
}

}  // namespace

TowerRules::TowerRules(const TowerContext& tower)
    : tower_(tower),
      first_node_(tower.graph().size()),
      getter_([this](const NextGetter& next, const std::string& name, const VariableOptions& options) {
        return on_variable(next, name, options);
      }) {}

Variable TowerRules::on_variable(const NextGetter& next, const std::string& full_name, const VariableOptions& options) {
  check_name(full_name, options);
  const Variable v = next(full_name, options);
  if (std::find(shared_.begin(), shared_.end(), v.handle()) != shared_.end()) return v;
  shared_.push_back(v.handle());
  if (options.trainable)
    asked_.push_back({tower_.without_tower(full_name), options.dtype, options.shape, LineScope::effective({})});
  return v;
}

void TowerRules::check_name(const std::string& full_name, const VariableOptions& options) const {
  const std::string& own = tower_.variable_scope();
  const std::string rest = tower_.without_tower(full_name);
  if (options.trainable) {
    MARTELLO_CHECK(is_floating(options.dtype), rule(2, tower_), "variable '", full_name, "' of dtype ", options.dtype,
                   " is trainable, but no gradient can train it. Use .trainable = false.");
    MARTELLO_CHECK(own.empty() || rest != full_name, rule(3, tower_), "trainable variable '", full_name,
                   "' is not inside the tower's variable scope '", own,
                   "'. Let its name be the one that get_variable() was given.");
    for (const std::string& scope : {own, tower_.name()})
      MARTELLO_CHECK(scope.empty() || !has_part(rest, scope), rule(3, tower_), "the name of trainable variable '",
                     full_name, "' has the tower's scope '", scope, "' in it",
                     ", so it depends on a name scope or a tensor's name. Name it after the layer.");
  }
  MARTELLO_CHECK(rest.find(kReserved) == std::string::npos, rule(5, tower_), "variable '", full_name,
                 "' has the word 'tower' in its name, which is kept for towers. Use another name or scope.");
  const bool exists = tower_.graph().find_operation(full_name).has_value();
  MARTELLO_CHECK(exists || !options.trainable || tower_.has_own_variables(), rule(1, tower_), "trainable variable '",
                 full_name,
                 "' was not made by the tower whose variables this one shares. Build the same model in every tower, "
                 "with names that depend on no name scope or tensor (rule 3).");
}

TowerModel TowerRules::finish(const TensorList& inputs, const TensorList& outputs) {
  check_raw_variables();
  check_update_ops();
  check_scopes();
  TowerModel model{tower_.name(), std::move(asked_), model_nodes(inputs, outputs), {}, outputs.size()};
  for (const Tensor& t : inputs) model.input_shapes.push_back(t.shape().str());
  return model;
}

void TowerRules::check_update_ops() const {
  for (const Operation& op : tower_.get_collection_in_tower(kUpdateOps))
    for (int i : write_targets(*op.node())) {
      const Tensor& target = op.node()->inputs[static_cast<size_t>(i)];
      const auto* attrs = target.node()->def == &op_variable ? &target.node()->attrs.get<VariableAttrs>() : nullptr;
      MARTELLO_CHECK(!attrs || !attrs->trainable, rule(2, tower_), "variable '", target.name(),
                     "' is trainable, but update op '", op.name(),
                     "' writes it, not a gradient. Make it with .trainable = false.\n  ", target.node()->context());
    }
}

void TowerRules::check_raw_variables() const {
  for (const Variable& v : tower_.get_collection_in_tower(kTrainableVariables))
    MARTELLO_CHECK(std::find(shared_.begin(), shared_.end(), v.handle()) != shared_.end(), rule(4, tower_),
                   "trainable variable '", v.handle().name(),
                   "' was made by raw_variable(), which no other tower can share. Use get_variable(), or .trainable = "
                   "false.\n  ",
                   v.handle().node()->context());
}

void TowerRules::check_scopes() const {
  const auto& nodes = tower_.graph().impl().nodes;
  for (size_t i = first_node_; i < nodes.size(); ++i)
    MARTELLO_CHECK(scopes_of(nodes[i]->name, tower_.name()).find(kReserved) == std::string_view::npos, rule(5, tower_),
                   "node '", nodes[i]->name,
                   "' is in a name scope with the word 'tower', which is kept for towers. Use another name.\n  ",
                   nodes[i]->context());
}

namespace {

std::string at(SourceLine line) { return line.known() ? str(", at ", line.str()) : std::string(); }

std::string text_of(const AskedVariable& v) {
  return str("trainable variable '", v.name, "' ", v.dtype, v.shape, at(v.line));
}
std::string text_of(const ModelNode& n) { return str("node '", n.name, "' (", n.op, at(n.line), ")"); }

bool alike(const AskedVariable& a, const AskedVariable& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape;
}
bool alike(const ModelNode& a, const ModelNode& b) { return a.op == b.op; }

// The first place where two lists differ: "tower 'tower0' has X where tower 'tower1' has Y".
template <class T>
void check_lists(const TowerModel& first, const std::vector<T>& a, const TowerModel& other, const std::vector<T>& b) {
  const size_t least = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < least && alike(a[i], b[i])) ++i;
  MARTELLO_CHECK(i == a.size() && i == b.size(), "[tower '", other.tower,
                 "'] rule 1 of tower functions: it comes out different from tower '", first.tower, "', which has ",
                 i < a.size() ? text_of(a[i]) : std::string("nothing more"), " where this one has ",
                 i < b.size() ? text_of(b[i]) : std::string("nothing more"),
                 ". Build the same model in every call: keep no state in the function.");
}

}  // namespace

void check_same_model(const TowerModel& first, const TowerModel& other) {
  MARTELLO_CHECK(first.num_outputs == other.num_outputs, "[tower '", other.tower,
                 "'] rule 1 of tower functions: it gives ", other.num_outputs, " outputs but tower '", first.tower,
                 "' gave ", first.num_outputs, ". Build the same model in every call.");
  check_lists(first, first.variables, other, other.variables);
  // A model may do other things with an image of another size.
  if (first.input_shapes == other.input_shapes) check_lists(first, first.nodes, other, other.nodes);
}

}  // namespace martello::internal
