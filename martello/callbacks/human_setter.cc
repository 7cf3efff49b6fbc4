#include <martello/callbacks/human_setter.h>

#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/base/state.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace martello {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::optional<double> find_number(std::string_view text) {
  const std::string number(trimmed(text));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  return number.empty() || *end != '\0' || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

// Key and value of `key:value`; the key may hold colons.
std::pair<std::string_view, std::string_view> cut(std::string_view line) {
  const size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return {};
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

}  // namespace

HumanHyperParamSetter::HumanHyperParamSetter(HyperParamRef param, std::string file_name)
    : HyperParamSetter(std::move(param)), file_name_(std::move(file_name)) {}

std::string HumanHyperParamSetter::description() const {
  return str(name(), "(", param().readable_name(), ", ", file_name_, ")");
}

void HumanHyperParamSetter::setup_graph() {
  HyperParamSetter::setup_graph();
  const auto dir = logger::find_logger_dir();
  MARTELLO_CHECK(dir, "[HumanHyperParamSetter] reads '", file_name_,
                 "' in the logger's directory, but there is none. Call logger::auto_set_dir() first.");
  path_ = str(*dir, "/", file_name_);
}

// The first line of a run that is not resumed ends what an earlier run noted in this directory.
void HumanHyperParamSetter::trigger() {
  if (!is_begun_) {
    is_begun_ = true;
    AppendFile file(journal());
    if (!is_resumed_) file.cut(0);
    file.append(pending_);
  }
  HyperParamSetter::trigger();
}

std::optional<double> HumanHyperParamSetter::value_to_set() {
  if (is_resumed_)
    if (const auto noted = noted_value()) return *noted;
  const auto value = typed_value();
  note(value);
  return value;
}

std::optional<double> HumanHyperParamSetter::typed_value() const {
  std::ifstream file(path_);
  if (!file) return std::nullopt;
  std::optional<double> found;
  for (std::string line; std::getline(file, line);) {
    if (trimmed(line).empty()) continue;
    const auto [key, text] = cut(line);
    const auto value = find_number(text);
    if (key.empty() || !value) {
      logger::warn("[HumanHyperParamSetter] ", martello::quoted(line), " in ", path_,
                   " is no `name:value`; nothing is set.");
      return std::nullopt;
    }
    if (key == param().readable_name()) found = value;
  }
  if (!found) logger::warn("[HumanHyperParamSetter] cannot find '", param().readable_name(), "' in ", path_, ".");
  return found;
}

// Lines `global_step name:value`, or `name:-` where nothing was set.
void HumanHyperParamSetter::note(std::optional<double> value) {
  const std::string line =
      str(global_step(), " ", param().readable_name(), ":", value ? str(*value) : std::string("-"), "\n");
  if (is_begun_) AppendFile(journal()).append(line);
  else pending_ += line;
}

std::optional<std::optional<double>> HumanHyperParamSetter::noted_value() const {
  std::ifstream file(journal());
  std::optional<std::optional<double>> noted;
  const std::string key = str(global_step(), " ", param().readable_name());
  for (std::string line; std::getline(file, line);) {
    const auto [name, text] = cut(line);
    if (name == key) noted = find_number(text);
  }
  return noted;
}

void HumanHyperParamSetter::state(State& s) {
  HyperParamSetter::state(s);
  if (s.restoring()) is_resumed_ = true;
}

}  // namespace martello
