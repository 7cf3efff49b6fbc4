#include <martello/testing/op_coverage.h>

#include <martello/graph/op_def.h>

namespace martello::testing {

std::vector<std::string> op_coverage_gaps(const std::map<std::string, size_t>& tested) {
  std::vector<std::string> gaps;
  for (const OpDef* def : all_ops()) {
    const auto need = [&](bool is_there, const char* what) {
      if (!is_there) gaps.push_back(str(def->name, ": no ", what));
    };
    need(tested.contains(def->name), "OP_TEST row");
    need(def->doc && *def->doc, "doc");
    need(def->family && *def->family, "family");
    need(def->gradient != nullptr, "gradient; not_differentiable and no_gradient are statements too");
  }
  return gaps;
}

}  // namespace martello::testing
