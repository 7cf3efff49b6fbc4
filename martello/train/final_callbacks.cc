#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/train/internal/trainer_impl.h>

#include <algorithm>

namespace martello {
namespace {

void check_callback(const Ref<Callback>& callback, size_t i, std::string_view list) {
  MARTELLO_CHECK(callback, "[trainer] ", list, "[", i, "] is null: it was never assigned.");
  MARTELLO_CHECK(!dynamic_cast<const Monitor*>(callback.get()), "[trainer] ", list, "[", i, "], '", callback->name(),
                 "', is a monitor. Give it in .monitors.");
  MARTELLO_CHECK(!dynamic_cast<const Monitors*>(callback.get()), "[trainer] ", list, "[", i,
                 "] is Monitors, which the trainer makes itself.");
}

void append(CallbackList& list, const Ref<Callback>& callback, bool is_chief) {
  if (is_chief || !callback->chief_only()) list.push_back(callback);
  else logger::warn("[trainer] callback '", callback->name(), "' is chief-only and skipped on this process.");
}

// A callback of `early` runs before all of `later`, so it cannot wait for them.
void check_needs(const CallbackList& early, const CallbackList& later) {
  for (const auto& a : early)
    for (const std::string& need : a->needs())
      for (const auto& b : later) {
        const auto provided = b->provides();
        MARTELLO_CHECK(std::find(provided.begin(), provided.end(), need) == provided.end(), "[trainer] callback '",
                       a->name(), "' was registered before training and so runs before '", b->name(),
                       "', whose scalar '", need, "' it needs. Give it in .callbacks instead.");
      }
}

}  // namespace

CallbackList final_callbacks(const CallbackList& registered, const CallbackList& with_step, const TrainOptions& options,
                             bool is_chief) {
  CallbackList users;
  for (size_t i = 0; i < registered.size(); ++i) check_callback(registered[i], i, "registered callbacks");
  for (size_t i = 0; i < options.callbacks.size(); ++i) {
    check_callback(options.callbacks[i], i, ".callbacks");
    append(users, options.callbacks[i], is_chief);
  }
  const CallbackList extra = options.extra_callbacks.value_or(CallbackList());
  for (size_t i = 0; i < extra.size(); ++i) {
    check_callback(extra[i], i, ".extra_callbacks");
    append(users, extra[i], is_chief);
  }
  users = sorted_by_needs(std::move(users));
  check_needs(registered, users);
  CallbackList list = registered;
  list.insert(list.end(), with_step.begin(), with_step.end());
  list.insert(list.end(), users.begin(), users.end());
  return list;
}

}  // namespace martello
