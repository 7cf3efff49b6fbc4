#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/callbacks/monitors/internal/command_template.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace martello::internal {
namespace {

// "", ".3f", "10.2e", "g": anything else could be a printf format that reads more than one number.
bool is_number_format(std::string_view text) {
  if (text.empty()) return true;
  const std::string_view digits = text.substr(0, text.size() - 1);
  return std::string_view("feg").find(text.back()) != std::string_view::npos && digits.size() <= 6 &&
         digits.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(digits.begin(), digits.end(), '.') <= 1;
}

}  // namespace

CommandTemplate::CommandTemplate(std::string_view text, const std::vector<std::string>& names, std::string_view who)
    : parts_(1) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      parts_.back().text += c;
    } else if (i + 1 < text.size() && text[i + 1] == c) {
      parts_.back().text += text[i++];
    } else {
      const size_t end = text.find('}', i);
      MARTELLO_CHECK(c == '{' && end != std::string_view::npos, "[", who, "] the command ", quoted(text),
                     " has a single '", c, "'. Write {name}, or '", c, c, "' for the character.");
      add_place(text.substr(i + 1, end - i - 1), names, who);
      i = end;
    }
  }
}

void CommandTemplate::add_place(std::string_view place, const std::vector<std::string>& names, std::string_view who) {
  auto found = std::find(names.begin(), names.end(), place);
  std::string_view format;
  if (const size_t colon = place.rfind(':'); found == names.end() && colon != std::string_view::npos) {
    format = place.substr(colon + 1);
    found = std::find(names.begin(), names.end(), place.substr(0, colon));
  }
  MARTELLO_CHECK(found != names.end(), "[", who, "] the command asks for {", place,
                 "}, which is not among its names: ", join(names), ".", did_you_mean(place, names));
  MARTELLO_CHECK(is_number_format(format), "[", who, "] the format of {", place, "} is none of a number, such as .3f.");
  parts_.back().value = static_cast<int>(found - names.begin());
  parts_.back().format = format.empty() ? "" : str("%", format);
  parts_.emplace_back();
}

std::string CommandTemplate::with(const std::vector<double>& values) const {
  std::string command;
  for (const Part& part : parts_) {
    command += part.text;
    if (part.value < 0) continue;
    const double value = values[static_cast<size_t>(part.value)];
    char text[512];  // the largest double has 309 digits before the point
    snprintf(text, sizeof text, part.format.c_str(), value);
    command += part.format.empty() ? str(value) : text;
  }
  return command;
}

void run_command(const std::string& command, std::string_view who) {
  const int status = std::system(command.c_str());
  if (status == 0) return;
  logger::error("[", who, "] ", WIFEXITED(status) ? "exit code " : "signal ",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), " from: ", command);
}

}  // namespace martello::internal
