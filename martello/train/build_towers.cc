#include <martello/train/internal/build_towers.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/scopes.h>

#include <algorithm>
#include <optional>

namespace martello {

void setup_input(InputSource& input, const std::vector<TensorSpec>& signature, size_t num_towers) {
  MARTELLO_CHECK(num_towers == 1 || input.feeds_each_tower(), "[trainer] the input gives all ", num_towers,
                 " towers the same tensors. Use one that gives each its own datapoint, such as QueueInput.");
  input.setup(signature);
}

CallbackList callbacks_of(InputSource& input) {
  CallbackList list = input.get_callbacks();
  for (const Ref<Callback>& c : list) {
    MARTELLO_CHECK(c, "[trainer] the input has a null callback.");
    c->set_chief_only(false);
  }
  return list;
}

std::vector<std::string> devices_of(const ParallelMode& mode) {
  std::vector<std::string> devices;
  for (const TowerSpec& t : mode.towers()) devices.push_back(t.device);
  return devices;
}

namespace {

// A further tower's own variables are copies: they are not saved.
VariableGetter make_local() {
  return [](const NextGetter& next, const std::string& name, const VariableOptions& options) {
    VariableOptions local = options;
    local.kind = VariableKind::local;
    return next(name, local);
  };
}

// Trainable variables that were there before the first tower, which it did not ask for.
void warn_of_others(const std::vector<Variable>& trained) {
  std::vector<std::string> names;
  for (const Variable& v : trainable_variables())
    if (std::find(trained.begin(), trained.end(), v) == trained.end())
      names.push_back(str("'", v.handle().name(), "'"));
  if (!names.empty())
    logger::warn("[trainer] trainable variables made before its towers are not trained: ", join(names),
                 ". Make them in the tower function.");
}

}  // namespace

void build_towers(TowerFunc& function, const ParallelMode& mode, InputSource& input,
                  const std::function<void(const BuiltTower&)>& on_tower) {
  const std::vector<TowerSpec> specs = mode.towers();
  MARTELLO_CHECK(!specs.empty(), "[trainer] its parallel mode has no tower.");
  std::vector<Variable> shared;  // of the first tower
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool has_own = !specs[i].variable_scope.empty();
    const DeviceScope on(specs[i].device);
    const VariableScope reuse("", i > 0 && !has_own ? Reuse::yes : Reuse::no);
    const TowerContext tower(specs[i].name, true,
                             {specs[i].variable_scope, static_cast<int>(i), static_cast<int>(specs.size())});
    std::optional<VariableGetterScope> local;
    if (i > 0 && has_own) local.emplace(make_local());
    BuiltTower built{tower, function(input.get_input_tensors()), tower.get_collection_in_tower(kTrainableVariables)};
    if (i == 0) shared = built.variables;
    if (!tower.has_own_variables()) built.variables = shared;
    if (i == 0) warn_of_others(shared);
    on_tower(built);
  }
}

}  // namespace martello
