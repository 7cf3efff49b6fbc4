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

void Collections::check_editable(std::string_view name, SourceLine line) const {
  if (!finalized_ || !*finalized_) return;
  FailedPrecondition error(
      str("[collection '", name, "'] changes after finalize(): the graph cannot change any more. Fill it before."));
  error.add_line(line);
  throw error;
}

void Collections::check_kind(std::string_view name, const char* kind, SourceLine line) const {
  with_line(line, [&] {
    const auto check = [&](const auto& lists, const char* held) {
      for (const auto& list : lists)
        MARTELLO_CHECK(list.name != name, "[collection '", name, "'] holds ", held, " and cannot take ", kind,
                       ". Use another key.");
    };
    check(variables_, "Variables");
    check(operations_, "Operations");
    check(tensors_, "Tensors");
    check(texts_, "strings");
  });
}

}  // namespace martello
