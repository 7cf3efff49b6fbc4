#include <martello/graph/collections.h>

#include <martello/base/error.h>

namespace martello {

std::vector<std::string> Collections::keys() const {
  std::vector<std::string> names;
  for (const auto& n : variables_) names.push_back(n.name);
  for (const auto& n : operations_) names.push_back(n.name);
  for (const auto& n : tensors_) names.push_back(n.name);
  for (const auto& n : texts_) names.push_back(n.name);
  return names;
}

void Collections::check_editable() const {
  if (finalized_ && *finalized_)
    throw FailedPrecondition("[collection] the graph is finalized: collections cannot change any more.");
}

void Collections::check_kind(std::string_view name) const {
  for (const std::string& key : keys())
    MARTELLO_CHECK(key != name, "[collection '", name, "'] already holds values of another type. Use another key.");
}

}  // namespace martello
