#include <martello/tower/tower_handle.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/node.h>

namespace martello {
namespace {

std::string prefixed(const std::string& scope, std::string_view name) {
  return scope.empty() ? std::string(name) : str(scope, "/", name);
}

// "x:0" is "x".
std::string_view without_first_output(std::string_view name) {
  return name.ends_with(":0") ? name.substr(0, name.size() - 2) : name;
}

[[noreturn]] void throw_not_found(std::string message, SourceLine line) {
  NotFound error(std::move(message));
  if (line.known()) error.add_line(line);
  throw error;
}

std::vector<std::string> names_in(const internal::TowerRecord& record) {
  std::vector<std::string> names;
  for (const TensorSpec& s : record.signature) names.push_back(s.name);
  const std::string prefix = record.name.empty() ? "" : record.name + "/";
  for (const Operation& op : record.graph.operations())
    if (op.name().starts_with(prefix)) names.push_back(op.name().substr(prefix.size()));
  return names;
}

std::string title(const std::string& tower) { return str("[tower '", tower, "'] "); }

}  // namespace

std::optional<Tensor> TowerHandle::find_input(std::string_view name) const {
  for (size_t i = 0; i < record_->signature.size(); ++i)
    if (record_->signature[i].name == name) return record_->inputs[i];
  return std::nullopt;
}

std::optional<Variable> TowerHandle::find_variable(std::string_view name) const {
  const auto found = record_->graph.find_tensor(prefixed(record_->variable_scope, name));
  if (!found || found->node()->def != &op_variable) return std::nullopt;
  return Variable(*found);
}

std::optional<Tensor> TowerHandle::find_tensor(std::string_view name) const {
  name = without_first_output(name);
  const auto found = record_->graph.find_tensor(prefixed(record_->name, name));
  if (const auto input = find_input(name)) {
    if (found && !(*found == *input))
      logger::info(title(record_->name), "'", name, "' is taken as the input of this name, '", input->name(),
                   "', not as tensor '", found->name(), "'.");
    return input;
  }
  if (found) return found;
  if (const auto variable = find_variable(name)) return *variable;
  return std::nullopt;
}

Tensor TowerHandle::get_tensor(std::string_view name, SourceLine line) const {
  if (const auto found = find_tensor(name)) return *found;
  throw_not_found(str(title(record_->name), "has no tensor, input or variable '", name, "'.",
                      did_you_mean(name, names_in(*record_))),
                  line);
}

TensorList TowerHandle::get_tensors(const std::vector<std::string>& names, SourceLine line) const {
  TensorList list;
  for (const std::string& name : names) list.push_back(get_tensor(name, line));
  return list;
}

Variable TowerHandle::get_variable(std::string_view name, SourceLine line) const {
  name = without_first_output(name);
  if (const auto found = find_variable(name)) return *found;
  std::vector<std::string> names;
  const std::string prefix = record_->variable_scope.empty() ? "" : record_->variable_scope + "/";
  for (const auto& key : {kGlobalVariables, kLocalVariables})
    for (const Variable& v : record_->graph.collections().get(key))
      if (v.handle().name().starts_with(prefix)) names.push_back(v.handle().name().substr(prefix.size()));
  throw_not_found(str(title(record_->name), "has no variable '", prefixed(record_->variable_scope, name), "'.",
                      did_you_mean(name, names)),
                  line);
}

std::vector<Variable> TowerHandle::get_variables(const std::vector<std::string>& names, SourceLine line) const {
  std::vector<Variable> list;
  for (const std::string& name : names) list.push_back(get_variable(name, line));
  return list;
}

const TowerHandle& TowerHandles::operator[](size_t i) const {
  if (i >= list_.size()) throw NotFound(str("[towers] there is no tower ", i, ": ", list_.size(), " have been built."));
  return list_[i];
}

const TowerHandle* TowerHandles::find(std::string_view name) const {
  for (auto it = list_.rbegin(); it != list_.rend(); ++it)
    if (it->name() == name) return &*it;
  return nullptr;
}

const TowerHandle& TowerHandles::operator[](std::string_view name) const {
  if (const TowerHandle* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const TowerHandle& t : list_) names.push_back(t.name());
  throw NotFound(str("[towers] there is no tower '", name, "' among ", list_.size(), ".", did_you_mean(name, names)));
}

TowerHandles TowerHandles::training() const {
  std::vector<TowerHandle> list = list_;
  std::erase_if(list, [](const TowerHandle& t) { return !t.is_training(); });
  return TowerHandles(std::move(list));
}

TowerHandles TowerHandles::inference() const {
  std::vector<TowerHandle> list = list_;
  std::erase_if(list, [](const TowerHandle& t) { return t.is_training(); });
  return TowerHandles(std::move(list));
}

}  // namespace martello
