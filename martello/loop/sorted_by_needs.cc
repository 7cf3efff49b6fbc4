#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/loop/callback_group.h>

#include <algorithm>

namespace martello {
namespace {

struct Declared {
  Ref<Callback> callback;
  std::vector<std::string> needs, provides;
  bool is_placed = false;
};

// The scalar that `a` needs and `b`, still to come, provides; null when there is none.
const std::string* find_awaited(const Declared& a, const Declared& b) {
  if (b.is_placed || &a == &b) return nullptr;
  for (const std::string& need : a.needs)
    if (std::find(b.provides.begin(), b.provides.end(), need) != b.provides.end()) return &need;
  return nullptr;
}

bool is_ready(const Declared& a, const std::vector<Declared>& all) {
  return std::none_of(all.begin(), all.end(), [&](const Declared& b) { return find_awaited(a, b) != nullptr; });
}

[[noreturn]] void throw_circle(const std::vector<Declared>& all) {
  std::vector<std::string> texts;
  for (const Declared& a : all) {
    if (a.is_placed) continue;
    for (const Declared& b : all)
      if (const std::string* scalar = find_awaited(a, b))
        texts.push_back(str("'", a.callback->name(), "' needs '", *scalar, "' of '", b.callback->name(), "'"));
  }
  throw InvalidArgument(
      str("[callbacks] they wait for each other: ", join(texts), ". No order is right; take one of the needs away."));
}

void report_moves(const CallbackList& given, const CallbackList& sorted) {
  std::vector<std::string> names;
  bool has_moved = false;
  for (size_t i = 0; i < given.size(); ++i) {
    has_moved = has_moved || given[i].get() != sorted[i].get();
    names.push_back(sorted[i]->name());
  }
  if (has_moved) logger::info("[callbacks] sorted so that a statistic is there before it is needed: ", join(names));
}

}  // namespace

CallbackList sorted_by_needs(CallbackList list) {
  std::vector<Declared> all;
  for (const Ref<Callback>& c : list) all.push_back({c, c->needs(), c->provides()});
  CallbackList sorted;
  while (sorted.size() < list.size()) {
    const auto next =
        std::find_if(all.begin(), all.end(), [&](const Declared& d) { return !d.is_placed && is_ready(d, all); });
    if (next == all.end()) throw_circle(all);
    next->is_placed = true;
    sorted.push_back(next->callback);
  }
  report_moves(list, sorted);
  return sorted;
}

}  // namespace martello
