#include <martello/base/internal/lines_only_in.h>
#include <martello/base/strings.h>

#include <map>

namespace martello::internal {

std::vector<std::string> lines_only_in(std::string_view a, std::string_view b) {
  std::map<std::string, int> left;
  for (const std::string& line : split(b, '\n')) ++left[line];
  std::vector<std::string> lines;
  for (const std::string& line : split(a, '\n'))
    if (--left[line] < 0) lines.push_back(line);
  return lines;
}

}  // namespace martello::internal
