#include <martello/base/error.h>
#include <martello/loop/callback_group.h>

#include <algorithm>

namespace martello {

void check_all_provided(const CallbackList& list) {
  std::vector<std::string> provided;
  for (const Ref<Callback>& c : list)
    for (std::string& scalar : c->provides()) provided.push_back(std::move(scalar));
  for (const Ref<Callback>& c : list)
    for (const std::string& need : c->needs())
      MARTELLO_CHECK(std::find(provided.begin(), provided.end(), need) != provided.end(), "[callback '", c->name(),
                     "'] needs the statistic '", need, "', which no callback provides.", did_you_mean(need, provided),
                     provided.empty() ? " None provides any." : str(" Provided are: ", join(provided), "."),
                     " A callback that puts it says so in provides().");
}

}  // namespace martello
