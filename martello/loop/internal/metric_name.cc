#include <martello/base/error.h>
#include <martello/base/utf8.h>
#include <martello/loop/internal/metric_name.h>

#include <algorithm>

namespace martello::internal {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

void check_metric_name(std::string_view what, std::string_view name) {
  MARTELLO_CHECK(!name.empty(), "[monitors] a ", what, " has no name.");
  const bool is_clean = is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
  MARTELLO_CHECK(is_clean, "[monitors] the name ", quoted(name), " of a ", what,
                 " has control characters or is no UTF-8. Files of statistics are text.");
  for (std::string_view taken : {"epoch_num", "global_step", "volatile"})
    MARTELLO_CHECK(name != taken, "[monitors] '", name, "' names the ", what,
                   " and a key of every row of statistics. Choose another name.");
}

}  // namespace martello::internal
