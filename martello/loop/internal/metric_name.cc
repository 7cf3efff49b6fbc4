#include <martello/base/error.h>
#include <martello/base/utf8.h>
#include <martello/loop/internal/metric_name.h>

namespace martello::internal {
void check_metric_name(std::string_view what, std::string_view name) {
  MARTELLO_CHECK(!name.empty(), "[monitors] a ", what, " has no name.");
  MARTELLO_CHECK(is_clean_text(name), "[monitors] the name ", quoted(name), " of a ", what,
                 " has control characters or is no UTF-8. Files of statistics are text.");
  for (std::string_view taken : {"epoch_num", "global_step", "volatile"})
    MARTELLO_CHECK(name != taken, "[monitors] '", name, "' names the ", what,
                   " and a key of every row of statistics. Choose another name.");
}

}  // namespace martello::internal
