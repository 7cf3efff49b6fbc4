#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/collections.h>
#include <martello/train/internal/match_variables.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace martello {
namespace {

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Without `prefix` and the slash behind it.
std::string value_name(const std::string& variable, const std::string& prefix) {
  if (prefix.empty() || !variable.starts_with(prefix + "/")) return variable;
  return variable.substr(prefix.size() + 1);
}

std::vector<std::string> variable_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Variable& v : graph.collections().get(kGlobalVariables)) names.push_back(v.handle().name());
  return names;
}

void check_ignored(const ValueSource& source, const std::vector<std::string>& variables) {
  for (const std::string& n : source.options.ignore)
    MARTELLO_CHECK(has(variables, n), source.who, "is to ignore '", n, "', which is no variable of the graph.",
                   did_you_mean(n, variables));
}

void check_prefix(const ValueSource& source, const std::vector<std::string>& variables) {
  const std::string& prefix = source.options.prefix;
  const bool is_found =
      std::any_of(variables.begin(), variables.end(), [&](const std::string& v) { return value_name(v, prefix) != v; });
  MARTELLO_CHECK(prefix.empty() || is_found, source.who, ".prefix is '", prefix, "', but no variable begins with '",
                 prefix, "/'. Give the part of their names before a slash.");
}

std::string some_of(std::vector<std::string> names) {
  constexpr size_t kShown = 3;
  if (names.size() <= kShown) return join(names);
  names.resize(kShown);
  return join(names) + " ...";
}

}  // namespace

std::vector<Match> match_variables(const Graph& graph, const ValueSource& source) {
  const std::set<std::string> values(source.names.begin(), source.names.end());
  const std::vector<std::string> variables = variable_names(graph);
  check_ignored(source, variables);
  check_prefix(source, variables);
  std::map<std::string, std::string> taken;  // value to variable
  std::vector<Match> matches;
  for (const std::string& name : variables) {
    const std::string value = value_name(name, source.options.prefix);
    if (has(source.options.ignore, name) || !values.contains(value)) continue;
    const auto [first, is_new] = taken.emplace(value, name);
    MARTELLO_CHECK(is_new, source.who, "variables '", first->second, "' and '", name, "' both stand for its '", value,
                   "'. Change .prefix, or ignore one of them.");
    matches.push_back({graph.get_tensor(name), value});
  }
  MARTELLO_CHECK(!matches.empty(), source.who, "has nothing for this graph: none of its ", values.size(), " values (",
                 some_of(source.names), ") is the name of one of the ", variables.size(), " variables (",
                 some_of(variables), ").");
  return matches;
}

namespace {

// Values of training, of which a model for inference knows nothing.
bool is_training_only(const std::string& name) {
  static constexpr std::string_view kSlots[] = {"/Adam",    "/Adam_1",    "/Momentum", "/Adadelta",  "/Adadelta_1",
                                                "/RMSProp", "/RMSProp_1", "/Adagrad",  "/AccumGrad", "/AdamW",
                                                "/AdamW_1", "/LAMB",      "/LAMB_1",   "/Lion",      "/step"};
  return std::any_of(std::begin(kSlots), std::end(kSlots), [&](std::string_view s) { return name.ends_with(s); }) ||
         name.starts_with("EMA/") || name.find("/EMA/") != std::string::npos || name.starts_with("AccumGrad");
}

void report_rest(std::vector<std::string> names, const std::set<std::string>& known, const std::string& text) {
  std::erase_if(names, [&](const std::string& n) { return known.contains(n) || is_training_only(n); });
  if (!names.empty()) logger::warn(text, join(names), ".");
}

void report(const Graph& graph, const ValueSource& source, const std::vector<Match>& matches) {
  std::set<std::string> variables(source.options.ignore.begin(), source.options.ignore.end()), values;
  for (const std::string& n : source.options.ignore) values.insert(value_name(n, source.options.prefix));
  for (const Match& m : matches) {
    variables.insert(m.variable.name());
    values.insert(m.value);
  }
  report_rest(variable_names(graph), variables, source.who + "has no value for these variables: ");
  report_rest(source.names, values, source.who + "has values that no variable takes: ");
}

// Floating dtypes into each other; integers into those that hold all of their values.
bool is_convertible(DType from, DType to) {
  if (from == to || (is_floating(from) && is_floating(to))) return true;
  return from == u8 ? to == i32 || to == i64 : from == i32 && to == i64;
}

// Whether nothing finite has become infinite.
bool holds(const HostTensor& fitted, const HostTensor& value) {
  const DType from = value.dtype(), to = fitted.dtype();
  if (!is_floating(to) || to == f64 || (to == f32 && from != f64)) return true;
  for (int64_t i = 0; i < value.num_elements(); ++i)
    if (std::isfinite(value.at(i)) && !std::isfinite(fitted.at(i))) return false;
  return true;
}

std::optional<HostTensor> made_to_fit(const HostTensor& value, const Tensor& variable) {
  if (value.num_elements() != variable.shape().num_elements() || !is_convertible(value.dtype(), variable.dtype()))
    return std::nullopt;
  HostTensor made = value.cast(variable.dtype());
  if (!holds(made, value)) return std::nullopt;
  return made.reshaped(variable.shape());
}

// `value` as the variable takes it; none when it is left out.
std::optional<HostTensor> fitted(const HostTensor& value, const Tensor& variable, const ValueSource& source) {
  if (value.dtype() == variable.dtype() && value.shape() == variable.shape()) return value;
  const std::string both = str(source.who, "variable '", variable.name(), "' is ", variable.dtype(), variable.shape(),
                               " but its value is ", value.dtype(), value.shape());
  MARTELLO_CHECK(source.fit != Fit::exact, both, ". Ignore it, or use SaverRestoreRelaxed.");
  if (auto made = made_to_fit(value, variable)) {
    logger::warn(both, ": it is made to fit.");
    return made;
  }
  MARTELLO_CHECK(source.fit == Fit::skip, both, ". Set .ignore_mismatch to leave such values out.");
  logger::warn(both, ": it is left out.");
  return std::nullopt;
}

}  // namespace

size_t set_matching(Session& session, const ValueSource& source) {
  size_t done = 0;
  for (const Match& m : match_variables(session.graph(), source))
    if (const auto value = fitted(source.read(m.value), m.variable, source)) {
      session.set(m.variable, *value);
      ++done;
    }
  return done;
}

void restore_variables(Session& session, const ValueSource& source) {
  report(session.graph(), source, match_variables(session.graph(), source));
  const size_t done = set_matching(session, source);
  logger::info(source.who, done, " variables are restored.");
}

}  // namespace martello
