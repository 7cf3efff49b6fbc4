#include <martello/loop/commit_point.h>

#include <martello/base/error.h>
#include <martello/base/log.h>

#include <algorithm>
#include <array>
#include <exception>

namespace martello {

std::string_view to_string(Phase phase) {
  static constexpr std::array<std::string_view, 9> kNames = {"setup_graph", "before_train",  "before_epoch",
                                                             "before_run",  "after_run",     "trigger_step",
                                                             "after_epoch", "trigger_epoch", "after_train"};
  return kNames[static_cast<size_t>(phase)];
}

void CommitPoint::request(std::string_view who, Writer writer) {
  MARTELLO_CHECK(writer, "[commit] '", who, "' requests a commit without a writer.");
  const auto same = std::find_if(requests_.begin(), requests_.end(), [&](const Request& r) { return r.who == who; });
  if (same != requests_.end()) same->writer = std::move(writer);
  else requests_.push_back({std::string(who), std::move(writer)});
}

void CommitPoint::tag(std::string_view tag) {
  if (std::find(tags_.begin(), tags_.end(), tag) == tags_.end()) tags_.emplace_back(tag);
}

void CommitPoint::commit(const LoopPosition& position) {
  if (requests_.empty() && tags_.empty()) return;  // as after most steps
  const auto requests = std::exchange(requests_, {});
  const Commit commit{position, std::exchange(tags_, {})};
  if (requests.empty() && !commit.tags.empty())
    logger::warn("[commit] '", join(commit.tags), "' tags a checkpoint in ", position.phase, " of epoch ",
                 position.epoch_num, ", but nobody saves one then. Let a saver run in the same period.");
  std::exception_ptr first;
  for (const Request& r : requests) {
    try {
      r.writer(commit);
    } catch (Error& e) {
      e.add_context(str("while '", r.who, "' committed after ", position.phase));
      if (!first) first = std::current_exception();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void CommitPoint::cancel() {
  requests_.clear();
  tags_.clear();
}

}  // namespace martello
