#include <martello/base/strings.h>
#include <martello/loop/human_time.h>

#include <cmath>
#include <utility>

namespace martello {

std::string human_time(double seconds) {
  if (seconds < 60) {
    const double digits = seconds < 1e-9 ? 0 : std::pow(10, 2 - std::floor(std::log10(seconds)));
    const double rounded = digits == 0 ? 0 : std::round(seconds * digits) / digits;
    return str(rounded, rounded > 1 ? " seconds" : " second");
  }
  int64_t rest = static_cast<int64_t>(seconds);
  std::vector<std::string> parts;
  for (const auto& [unit, size] :
       {std::pair<const char*, int64_t>{"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}}) {
    const int64_t n = rest / size;
    rest %= size;
    if (n > 0) parts.push_back(str(n, " ", unit, n > 1 ? "s" : ""));
  }
  return join(parts, " ");
}

}  // namespace martello
