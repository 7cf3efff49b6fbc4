#pragma once
#include <martello/loop/callback.h>

#include <map>
#include <string>
#include <vector>

namespace martello {

// Names for the states of callbacks: their own, and "ModelSaver#2" for the second of one name.
inline std::vector<std::string> callback_keys(const CallbackList& callbacks) {
  std::map<std::string, int> seen;
  std::vector<std::string> keys;
  for (const Ref<Callback>& c : callbacks) {
    const std::string name = c->name();
    const int number = ++seen[name];
    keys.push_back(number == 1 ? name : str(name, "#", number));
  }
  return keys;
}

}  // namespace martello
