#include <martello/train/parallel_mode.h>

#include <martello/base/error.h>

namespace martello {
namespace {

// The name of a variable without its tower's scope: "tower1/fc/W" is "fc/W".
std::string relative_name(const Variable& v, const TowerSpec& tower) {
  const std::string name = v.handle().name(), prefix = tower.variable_scope + "/";
  return !tower.variable_scope.empty() && name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

void check_same_gradients(const std::vector<GradVars>& by_tower, const std::vector<TowerSpec>& towers) {
  for (size_t t = 1; t < by_tower.size(); ++t) {
    const std::string where = str("[tower '", towers[t].name, "'] rule 1 of tower functions: ");
    MARTELLO_CHECK(by_tower[t].size() == by_tower[0].size(), where, "it has gradients of ", by_tower[t].size(),
                   " variables but tower '", towers[0].name, "' of ", by_tower[0].size(),
                   ". Build the same model in every tower.");
    for (size_t i = 0; i < by_tower[t].size(); ++i) {
      const std::string first = relative_name(by_tower[0][i].var, towers[0]),
                        other = relative_name(by_tower[t][i].var, towers[t]);
      MARTELLO_CHECK(first == other, where, "its gradient ", i, " is of variable '", other, "' but that of tower '",
                     towers[0].name, "' of '", first, "'. Build the same model in every tower.");
    }
  }
}

std::vector<TowerSpec> OneTower::towers() const { return {{.device = device_}}; }

Operation OneTower::apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) {
  MARTELLO_ASSERT(by_tower.size() == 1, "one tower, ", by_tower.size(), " lists of gradients.");
  return optimizer.apply_gradients(by_tower[0], name);
}

Ref<ParallelMode> one_tower() { return OneTower(); }

}  // namespace martello
