#include <martello/callbacks/best_saver.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/base/utf8.h>
#include <martello/callbacks/internal/saver_dir.h>
#include <martello/loop/commit_point.h>
#include <martello/loop/monitors.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

// Statistics have slashes in their names, files have not.
std::string file_name(bool is_max, const std::string& stat) {
  std::string name = str(is_max ? "max-" : "min-", stat);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

}  // namespace

MinSaver::MinSaver(std::string stat, BestSaverOptions options, SourceLine line)
    : MinSaver(std::move(stat), std::move(options), false, line) {}

MinSaver::MinSaver(std::string stat, BestSaverOptions options, bool is_max, SourceLine line)
    : stat_(std::move(stat)), options_(std::move(options)), is_max_(is_max) {
  with_line(line, [&] {
    MARTELLO_CHECK(!stat_.empty(), "[", name(), "] was given no statistic.");
    MARTELLO_CHECK(options_.keep >= 1, "[", name(), " '", stat_, "'] .keep is ", options_.keep,
                   "; it must be at least 1.");
    if (options_.filename.empty()) options_.filename = file_name(is_max_, stat_);
    const std::string& file = options_.filename;
    const bool is_plain = is_clean_text(file) && file.find('/') == std::string::npos && !file.starts_with("model-");
    MARTELLO_CHECK(is_plain, "[", name(), " '", stat_, "'] .filename is ", quoted(file),
                   ". Give a name without a directory that does not begin with model-, of UTF-8 without control ",
                   "characters.");
  });
}

void MinSaver::setup_graph() {
  monitors().check_repeatable(stat_, name());
  options_.dir = internal::saver_dir(options_.dir, name());
  CommitPoint& commit_point = context().commit_point();
  commit_point.add_directory(options_.dir, {.newest = 1});
  commit_point.add_tagger({.who = str(name(), " '", stat_, "'"),
                           .dir = options_.dir,
                           .name = options_.filename,
                           .lost = [this](double value) { forget(value); }});
}

bool MinSaver::is_better(double value) const {
  if (std::isnan(value)) return false;
  if (static_cast<int64_t>(best_.size()) < options_.keep) return true;
  return is_max_ ? value > best_.back() : value < best_.back();
}

void MinSaver::note(double value) {
  before_ = best_;
  best_.push_back(value);
  std::sort(best_.begin(), best_.end(), [this](double a, double b) { return is_max_ ? a > b : a < b; });
  if (static_cast<int64_t>(best_.size()) > options_.keep) best_.pop_back();
}

void MinSaver::forget(double value) {
  if (best_ == before_) return;
  best_ = before_;
  logger::warn("[", name(), "] '", stat_, "' was ", value, " in a checkpoint that could not be saved: the best so far ",
               best_.empty() ? "is none." : str("is ", best_.front(), "."));
}

void MinSaver::trigger() {
  monitors().check_repeatable(stat_, name());
  const auto history = monitors().get_history(stat_);
  if (history.empty() || history.back().first == last_step_) return;
  last_step_ = history.back().first;
  const double value = history.back().second;
  CommitPoint& commit_point = context().commit_point();
  commit_point.settle();
  if (!is_better(value)) return;
  note(value);
  if (best_.front() == value)
    logger::info("[", name(), "] '", stat_, "' is ", value, ", the best so far; '", options_.filename,
                 ".safetensors' will be this checkpoint.");
  commit_point.tag_best({.name = options_.filename,
                         .value = value,
                         .is_max = is_max_,
                         .keep = options_.keep,
                         .is_best = best_.front() == value,
                         .dir = options_.dir});
  commit_point.request_checkpoint(options_.dir);
}

void MinSaver::state(State& s) {
  s("best", best_);
  s("last_step", last_step_);
  if (s.has("before")) s("before", before_);
  else before_ = best_;
}

}  // namespace martello
