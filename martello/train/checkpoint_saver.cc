#include <martello/base/append_file.h>
#include <martello/base/atomic_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/train/internal/checkpoint_saver.h>
#include <martello/train/internal/retention.h>

#include <signal.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace martello {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".safetensors.part";

class Cancelled : public Error {
 public:
  using Error::Error;
};

std::string path_of(const std::string& dir, std::string_view kind, int64_t step) {
  return str(dir, "/", kind, "-", step, ".safetensors");
}

void remove_leftovers(const std::string& dir) {
  std::error_code failure;
  for (fs::directory_iterator i(dir, failure), end; !failure && i != end; i.increment(failure)) {
    if (!i->path().filename().string().ends_with(kPart)) continue;
    logger::warn("[checkpoints] '", i->path().string(), "' was left half-written by a run that was killed: removed.");
    fs::remove(i->path());
  }
  if (failure) throw FileError(str("[checkpoints] cannot read the directory '", dir, "': ", failure.message(), "."));
}

int64_t free_bytes(const std::string& dir) {
  struct statvfs found;
  if (statvfs(dir.c_str(), &found) != 0) return INT64_MAX;
  return static_cast<int64_t>(found.f_bavail) * static_cast<int64_t>(found.f_frsize);
}

void warn_of_room(const std::string& dir, int64_t bytes) {
  if (const int64_t room = free_bytes(dir); room < 2 * bytes)
    logger::warn("[checkpoints] '", dir, "' has room for ", room >> 20, " MiB; two checkpoints of this run need ",
                 (2 * bytes) >> 20, " MiB. Saving may fail.");
}

std::string best_path(const std::string& dir, const std::string& tag) { return str(dir, "/", tag, ".safetensors"); }

void copy_and_sync(const std::string& from, const std::string& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  AppendFile(to).sync();
}

// A second name of the same bytes, or a copy where the file system has no second names.
void make_best(const std::string& path, const std::string& best) {
  const std::string part = best + ".part";
  try {
    if (::link(path.c_str(), part.c_str()) != 0) copy_and_sync(path, part);
    fs::rename(part, best);
  } catch (...) {
    ::unlink(part.c_str());
    throw;
  }
}

double seconds_since_1970() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double newest_time(const std::string& dir) {
  double time = 0;
  for (const CheckpointFile& file : list_checkpoints(dir))
    if (file.info) time = std::max(time, file.info->saved_at);
  return time;
}

const BestTag* find_tag(const CheckpointInfo& info, const std::string& name) {
  const auto found = std::find_if(info.best.begin(), info.best.end(), [&](const BestTag& t) { return t.name == name; });
  return found == info.best.end() ? nullptr : &*found;
}

// The one that was the best of the run when `resumed` was saved.
std::optional<CheckpointInfo> best_until(const CheckpointInfo& resumed, const std::string& dir,
                                         const std::string& tag) {
  for (const CheckpointFile& file : list_checkpoints(dir)) {
    if (!file.info || file.info->run != resumed.run || file.info->saved_at > resumed.saved_at) continue;
    if (const BestTag* found = find_tag(*file.info, tag); found && found->is_best) return file.info;
  }
  return std::nullopt;
}

// Whether the file that is called the best one is of this run and as good as `best`.
bool is_named(const CheckpointInfo& best, const std::string& path, const std::string& tag) try {
  const CheckpointInfo named = read_checkpoint_info(path);
  const BestTag *has = find_tag(named, tag), *wanted = find_tag(best, tag);
  return named.run == best.run && has && (wanted->is_max ? has->value >= wanted->value : has->value <= wanted->value);
} catch (const Error&) {
  return false;
}

void name_again(const CheckpointInfo& resumed, const BestTagger& tagger) try {
  const auto best = best_until(resumed, tagger.dir, tagger.name);
  const std::string path = best_path(tagger.dir, tagger.name);
  if (!best || is_named(*best, path, tagger.name)) return;
  verify_checkpoint(best->path);
  make_best(best->path, path);
  sync_directory(tagger.dir);
  logger::info("[checkpoints] '", path, "' is '", best->path, "': a run that was ended had not named it yet.");
} catch (const std::exception& e) {
  logger::warn("[checkpoints] the best one cannot be named: ", e.what());
}

void delete_superfluous(const CommitPoint::Directory& directory, const std::string& run, const std::string& written) {
  std::vector<CheckpointInfo> ours;
  for (const CheckpointFile& file : list_checkpoints(directory.path))
    if (file.info && file.info->run == run) ours.push_back(*file.info);
  for (const std::string& path : superfluous(std::move(ours), directory.keep)) {
    if (path == written) continue;
    std::error_code failure;
    fs::remove(path, failure);
    if (failure) logger::warn("[checkpoints] cannot delete '", path, "': ", failure.message(), ".");
  }
}

// Signals are for the threads that wait for them.
std::thread without_signals(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

CheckpointSaver::~CheckpointSaver() {
  if (thread_.joinable()) thread_.join();
}

void CheckpointSaver::open(const std::vector<CommitPoint::Directory>& directories, int64_t bytes) {
  // This process may have been forked off since it was set.
  if (const auto dir = logger::find_logger_dir()) logger_dir_.emplace(*dir);
  for (const auto& d : directories) {
    directories_.push_back({d, DirectoryLock(d.path, DirectoryLock::Kind::sole)});
    remove_leftovers(d.path);
    warn_of_room(d.path, bytes);
    opened_at_ = std::max(opened_at_, newest_time(d.path));
  }
  last_time_ = opened_at_;
}

void CheckpointSaver::go_on(const CheckpointInfo& resumed, const std::vector<BestTagger>& taggers) {
  resumed_at_ = resumed.saved_at;
  last_time_ = opened_at_ = std::max(opened_at_, resumed_at_);
  for (const BestTagger& t : taggers) name_again(resumed, t);
}

double CheckpointSaver::next_time() const {
  constexpr double kLeast = 1e-6;  // several times what doubles can tell apart there
  return std::max(seconds_since_1970(), last_time_ + kLeast);
}

void CheckpointSaver::start(Checkpoint checkpoint, const std::vector<std::string>& dirs) {
  wait();
  check_failures();
  targets_.clear();
  for (const Held& h : directories_)
    if (std::find(dirs.begin(), dirs.end(), h.directory.path) != dirs.end()) targets_.push_back(h.directory);
  checkpoint_ = std::move(checkpoint);
  last_time_ = std::max(last_time_, checkpoint_.info.saved_at);
  has_tags_ = !checkpoint_.info.best.empty();
  is_needed_ = has_tags_;
  for (const auto& t : targets_)
    is_needed_ |= t.path != directories_[0].directory.path || stays_for_good(checkpoint_.info, t.keep);
  failure_.clear();
  is_cancelled_ = false;
  thread_ = without_signals([this] { write_all(); });
}

void CheckpointSaver::write_all() {
  const CheckpointInfo info = checkpoint_.info;
  for (const auto& target : targets_) {
    try {
      write_to(target, info);
    } catch (const Cancelled& e) {
      logger::info(e.what());
    } catch (const std::exception& e) {
      failure_ += str(failure_.empty() ? "" : "\n", e.what());
    }
  }
}

void CheckpointSaver::write_to(const CommitPoint::Directory& directory, CheckpointInfo info) {
  const std::string path = path_of(directory.path, "model", info.global_step);
  std::erase_if(info.best, [&](const BestTag& t) { return t.dir != directory.path; });
  const std::vector<BestTag> tags = info.best;
  inherit(info, path);
  checkpoint_.info = std::move(info);
  const size_t num_lost = lost_.size();
  lost_.insert(lost_.end(), tags.begin(), tags.end());
  write_checkpoint(path, checkpoint_, [&] {
    if (is_cancelled_) throw Cancelled(str("[checkpoints] '", path, "' is given up for a newer one."));
  });
  verify_checkpoint(path);
  lost_.resize(num_lost);
  for (const BestTag& tag : tags)
    if (tag.is_best) unnamed_[{directory.path, tag.name}] = path;
  name_best(directory);
  logger::info("[checkpoints] saved '", path, "'.");
  delete_superfluous(directory, checkpoint_.info.run, path);
}

// Not of another end of this run, which was given up when it was resumed from an older checkpoint.
bool CheckpointSaver::is_of_this_branch(const CheckpointInfo& info) const {
  return info.run == checkpoint_.info.run && (info.saved_at == resumed_at_ || info.saved_at > opened_at_);
}

// A position between two epochs has the step, and so the name, of the end of the first one: for what that was kept
// this is kept.
void CheckpointSaver::inherit(CheckpointInfo& info, const std::string& path) const try {
  if (!fs::exists(path)) return;
  const CheckpointInfo old = read_checkpoint_info(path);
  if (old.global_step != info.global_step || !is_of_this_branch(old)) return;
  for (const BestTag& tag : old.best)
    if (!find_tag(info, tag.name)) info.best.push_back(tag);
  if (!epoch_ended_by(info)) info.replaced_end = epoch_ended_by(old);
} catch (const Error&) {
  return;  // what cannot be read is replaced
}

// Gives their names to best ones, also to those of earlier saves for which that failed.
void CheckpointSaver::name_best(const CommitPoint::Directory& directory) {
  bool is_changed = false;
  for (auto i = unnamed_.begin(); i != unnamed_.end();) {
    const auto& [key, path] = *i;
    const bool is_here = key.first == directory.path;
    if (is_here && fs::exists(path)) make_best(path, best_path(key.first, key.second)), is_changed = true;
    i = is_here ? unnamed_.erase(i) : std::next(i);
  }
  if (is_changed) sync_directory(directory.path);
}

void CheckpointSaver::wait() {
  if (!thread_.joinable()) return;
  thread_.join();
  checkpoint_ = {};
  if (failure_.empty()) failed_in_a_row_ = 0;
  else note_failure(failure_);
}

void CheckpointSaver::cancel() {
  if (thread_.joinable() && !is_needed_) is_cancelled_ = true;
}

void CheckpointSaver::note_failure(const std::string& why) {
  ++num_failed_;
  ++failed_in_a_row_;
  last_failure_ = why;
  logger::error("[checkpoints] A checkpoint could not be saved (", num_failed_, " so far): ", why,
                " Training goes on; older checkpoints are as they were.");
}

void CheckpointSaver::check_failures() const {
  if (failed_in_a_row_ >= kMostFailures)
    throw FileError(
        str("[checkpoints] ", failed_in_a_row_,
            " saves in a row have failed, so nothing of this run would be left. The last: ", last_failure_));
}

void CheckpointSaver::write_crash(const Checkpoint& checkpoint) {
  wait();
  if (directories_.empty()) return;
  const std::string path = path_of(directories_[0].directory.path, "crash", checkpoint.info.global_step);
  write_checkpoint(path, checkpoint);
  logger::error("[checkpoints] the state at the error is in '", path,
                "'. It is not resumed automatically: it may be half of a phase.");
}

void CheckpointSaver::close() {
  wait();
  directories_.clear();
  logger_dir_.reset();
}

}  // namespace martello
