#include <martello/testing/op_coverage.h>

#include <martello/graph/op_def.h>

#include <algorithm>

namespace martello::testing {

std::vector<std::string> op_coverage_gaps(const std::vector<std::string>& tested) {
  std::vector<std::string> gaps;
  for (const OpDef* def : all_ops()) {
    const auto need = [&](bool is_there, const char* what) {
      if (!is_there) gaps.push_back(str(def->name, ": no ", what));
    };
    need(std::find(tested.begin(), tested.end(), def->name) != tested.end(), "OP_TEST row");
    need(def->doc && *def->doc, "doc");
    need(def->family && *def->family, "family");
    need(def->gradient != nullptr, "gradient; not_differentiable and no_gradient are statements too");
  }
  return gaps;
}

}  // namespace martello::testing
