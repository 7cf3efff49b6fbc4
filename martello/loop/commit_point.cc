#include <martello/loop/commit_point.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>

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

// The text first: most are told by one name, and every request looks for it.
CommitPoint::Directory* CommitPoint::find_directory(const std::string& dir) {
  for (Directory& d : directories_)
    if (d.path == dir) return &d;
  std::error_code failure;  // one that does not exist is no other's
  for (Directory& d : directories_)
    if (std::filesystem::equivalent(d.path, dir, failure)) return &d;
  return nullptr;
}

void CommitPoint::add_directory(const std::string& dir, const Retention& keep) {
  if (Directory* same = find_directory(dir)) same->keep = more_generous(same->keep, keep);
  else directories_.push_back({dir, keep});
}

void CommitPoint::add_tagger(BestTagger tagger) {
  if (const Directory* d = find_directory(tagger.dir)) tagger.dir = d->path;
  for (const BestTagger& t : taggers_)
    MARTELLO_CHECK(t.name != tagger.name || t.dir != tagger.dir, "[", tagger.who, "] and [", t.who,
                   "] would both make '", t.dir, "/", t.name,
                   ".safetensors', each over the other's. Give one of them another .filename.");
  taggers_.push_back(std::move(tagger));
}

void CommitPoint::request_checkpoint(const std::string& dir) {
  const Directory* known = find_directory(dir);
  MARTELLO_CHECK(known, "[commit] a checkpoint is requested in '", dir,
                 "', which was not told to the commit point. Call add_directory() in setup_graph.");
  if (std::find(checkpoints_.begin(), checkpoints_.end(), known->path) == checkpoints_.end())
    checkpoints_.push_back(known->path);
}

void CommitPoint::tag_best(BestTag tag) {
  if (const Directory* d = find_directory(tag.dir)) tag.dir = d->path;
  std::erase_if(best_, [&](const BestTag& b) { return b.name == tag.name && b.dir == tag.dir; });
  best_.push_back(std::move(tag));
}

void CommitPoint::settle() {
  if (settler_) settler_();
}

void CommitPoint::tell_lost(const BestTag& tag) const {
  for (const BestTagger& t : taggers_)
    if (t.name == tag.name && t.dir == tag.dir && t.lost) t.lost(tag.value);
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

namespace {

// Tags, field by field.
struct TagColumns {
  std::vector<std::string> dirs, names;
  std::vector<double> values;
  std::vector<int64_t> are_max, keeps, are_best;

  void state(State& s) {
    s("dirs", dirs);
    s("names", names);
    s("values", values);
    s("are_max", are_max);
    s("keeps", keeps);
    s("are_best", are_best);
  }
  void add(const BestTag& t) {
    dirs.push_back(t.dir);
    names.push_back(t.name);
    values.push_back(t.value);
    are_max.push_back(t.is_max);
    keeps.push_back(t.keep);
    are_best.push_back(t.is_best);
  }
  BestTag get(size_t i) const {
    return {.name = names[i],
            .value = values[i],
            .is_max = are_max[i] != 0,
            .keep = keeps[i],
            .is_best = are_best[i] != 0,
            .dir = dirs[i]};
  }
  void check() const {
    const size_t n = names.size();
    MARTELLO_CHECK(
        dirs.size() == n && values.size() == n && are_max.size() == n && keeps.size() == n && are_best.size() == n,
        "its tags of best checkpoints are of different numbers.");
  }
};

}  // namespace

void CommitPoint::state(State& s) {
  std::vector<std::string> requested = checkpoints_;
  TagColumns tagged;
  for (const BestTag& t : best_) tagged.add(t);
  s("requested", requested);
  if (s.has("tagged")) s("tagged", tagged);
  if (!s.restoring()) return;
  tagged.check();
  cancel();
  // A run may have been moved since; where there is only one directory, it is that.
  const auto find_saved = [&](const std::string& dir) {
    return directories_.size() == 1 ? directories_.data() : find_directory(dir);
  };
  for (const std::string& dir : requested)
    if (const Directory* d = find_saved(dir)) request_checkpoint(d->path);
  for (size_t i = 0; i < tagged.names.size(); ++i)
    if (const Directory* d = find_saved(tagged.dirs[i])) {
      BestTag tag = tagged.get(i);
      tag.dir = d->path;
      tag_best(std::move(tag));
    }
}

void CommitPoint::lose() {
  for (const BestTag& tag : best_) tell_lost(tag);
  cancel();
}

void CommitPoint::cancel() {
  requests_.clear();
  tags_.clear();
  checkpoints_.clear();
  best_.clear();
}

}  // namespace martello
