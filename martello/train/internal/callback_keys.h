#pragma once
#include <martello/base/utf8.h>
#include <martello/loop/callback.h>

#include <set>
#include <string>
#include <vector>

namespace martello {

// Names for the states of callbacks: their own, and "ModelSaver#2" for the second of one name. UTF-8, as all texts of a
// checkpoint; none is taken by what else is in the state of a run.
inline std::vector<std::string> callback_keys(const CallbackList& callbacks) {
  std::set<std::string> taken = {"callbacks", "requested", "tagged"};
  std::vector<std::string> keys;
  for (const Ref<Callback>& c : callbacks) {
    const std::string name = as_utf8(c->name());
    std::string key = name;
    for (int number = 2; !taken.insert(key).second; ++number) key = str(name, "#", number);
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace martello
