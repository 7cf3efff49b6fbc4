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

namespace {

Retention more_generous(const Retention& a, const Retention& b) {
  const auto often = [](auto x, auto y) { return x == 0 || y == 0 ? std::max(x, y) : std::min(x, y); };
  return {.newest = a.newest == 0 || b.newest == 0 ? 0 : std::max(a.newest, b.newest),
          .every_epochs = often(a.every_epochs, b.every_epochs),
          .every_minutes = often(a.every_minutes, b.every_minutes)};
}

}  // namespace

void CommitPoint::add_directory(const std::string& dir, const Retention& keep) {
  const auto same =
      std::find_if(directories_.begin(), directories_.end(), [&](const auto& d) { return d.path == dir; });
  if (same != directories_.end()) same->keep = more_generous(same->keep, keep);
  else directories_.push_back({dir, keep});
}

void CommitPoint::request_checkpoint(const std::string& dir) {
  const bool is_known =
      std::any_of(directories_.begin(), directories_.end(), [&](const auto& d) { return d.path == dir; });
  MARTELLO_CHECK(is_known, "[commit] a checkpoint is requested in '", dir,
                 "', which was not told to the commit point. Call add_directory() in setup_graph.");
  if (std::find(checkpoints_.begin(), checkpoints_.end(), dir) == checkpoints_.end()) checkpoints_.push_back(dir);
}

void CommitPoint::tag_best(const BestTag& tag) {
  std::erase_if(best_, [&](const BestTag& b) { return b.name == tag.name; });
  best_.push_back(tag);
}

CommitPoint::Commit CommitPoint::take(const LoopPosition& position) {
  return {position, std::exchange(tags_, {}), std::exchange(checkpoints_, {}), std::exchange(best_, {})};
}

void CommitPoint::commit(const LoopPosition& position) {
  if (requests_.empty() && tags_.empty() && checkpoints_.empty() && best_.empty()) return;  // as after most steps
  auto requests = std::exchange(requests_, {});
  const Commit commit = take(position);
  if (!commit.checkpoints.empty() && checkpoint_writer_) requests.push_back({"checkpoints", checkpoint_writer_});
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
  checkpoints_.clear();
  best_.clear();
}

}  // namespace martello
