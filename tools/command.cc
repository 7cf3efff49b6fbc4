#include "command.h"

#include <martello/base/append_file.h>
#include <martello/base/atomic_file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace martello::tools {
namespace {

template <class T>
T parsed(std::string_view option, const std::string& text, const char* what) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw WrongUse(str("--", option, " is '", text, "', which is no ", what, "."));
  return value;
}

}  // namespace

std::optional<std::string> Args::find(std::string_view option) const {
  std::optional<std::string> found;
  for (const auto& [name, value] : options_)
    if (name == option) found = value;
  return found;
}

std::vector<std::string> Args::all(std::string_view option) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : options_)
    if (name == option) values.push_back(value);
  return values;
}

int64_t Args::number(std::string_view option, int64_t otherwise, int64_t least, int64_t most) const {
  const auto text = find(option);
  if (!text) return otherwise;
  const auto value = parsed<int64_t>(option, *text, "whole number");
  if (value < least || value > most)
    throw WrongUse(str("--", option, " is ", value, "; it is between ", least, " and ", most, "."));
  return value;
}

double Args::real(std::string_view option, double otherwise) const {
  const auto text = find(option);
  return text ? parsed<double>(option, *text, "number") : otherwise;
}

std::string table(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      const bool is_right = std::find(right.begin(), right.end(), i) != right.end();
      line += (i > 0 ? "  " : "") + (is_right ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string human_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.append(text);
  file.commit();
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == ENOENT) throw NotFound(str("there is no file '", path, "'."));
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw FileError(str("cannot read '", path, "': ", strerror(errno), "."));
  return text.str();
}

}  // namespace martello::tools
