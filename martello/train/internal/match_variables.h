#pragma once
#include <martello/train/restore.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace martello {

// Values by name, and how variables take them.
struct ValueSource {
  std::string who;  // begins the messages
  std::vector<std::string> names;
  std::function<HostTensor(const std::string&)> read;
  RestoreOptions options = {};
  Fit fit = Fit::exact;
};

// A variable and the name of the value that is meant for it.
struct Match {
  Tensor variable;
  std::string value;
};

// Which GLOBAL variable of the graph takes which value. Throws when nothing matches, when two variables would take the
// same value, or when one to ignore does not exist.
std::vector<Match> match_variables(const Graph& graph, const ValueSource& source);

// Sets the variables that match; their number.
size_t set_matching(Session& session, const ValueSource& source);
// The same, and says what only one side has.
void restore_variables(Session& session, const ValueSource& source);

}  // namespace martello
