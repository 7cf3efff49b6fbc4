#include <martello/base/append_file.h>
#include <martello/base/atomic_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/train/internal/checkpoint_saver.h>
#include <martello/train/internal/retention.h>

#include <signal.h>
#include <sys/statvfs.h>
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

// A second name of the same bytes, or a copy where the file system has no second names.
void make_best(const std::string& path, const std::string& best) {
  const std::string part = best + ".part";
  try {
    if (::link(path.c_str(), part.c_str()) != 0) fs::copy_file(path, part, fs::copy_options::overwrite_existing);
    fs::rename(part, best);
  } catch (...) {
    ::unlink(part.c_str());
    throw;
  }
}

void delete_superfluous(const CommitPoint::Directory& directory, const std::string& run) {
  std::vector<CheckpointInfo> ours;
  for (const CheckpointFile& file : list_checkpoints(directory.path))
    if (file.info && file.info->run == run) ours.push_back(*file.info);
  for (const std::string& path : superfluous(std::move(ours), directory.keep)) {
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
  for (const auto& d : directories) {
    directories_.push_back({d, DirectoryLock(d.path)});
    remove_leftovers(d.path);
    warn_of_room(d.path, bytes);
  }
}

void CheckpointSaver::start(Checkpoint checkpoint, const std::vector<std::string>& dirs) {
  wait();
  check_failures();
  targets_.clear();
  for (const Held& h : directories_)
    if (std::find(dirs.begin(), dirs.end(), h.directory.path) != dirs.end()) targets_.push_back(h.directory);
  checkpoint_ = std::move(checkpoint);
  failure_.clear();
  is_cancelled_ = false;
  thread_ = without_signals([this] { write_all(); });
}

void CheckpointSaver::write_all() {
  for (const auto& target : targets_) {
    try {
      write_to(target);
    } catch (const Cancelled& e) {
      logger::info(e.what());
    } catch (const std::exception& e) {
      failure_ += str(failure_.empty() ? "" : "\n", e.what());
    }
  }
}

void CheckpointSaver::write_to(const CommitPoint::Directory& directory) {
  const std::string path = path_of(directory.path, "model", checkpoint_.info.global_step);
  write_checkpoint(path, checkpoint_, [&] {
    if (is_cancelled_) throw Cancelled(str("[checkpoints] '", path, "' is given up for a newer one."));
  });
  verify_checkpoint(path);
  for (const BestTag& tag : checkpoint_.info.best)
    if (tag.is_best) make_best(path, str(directory.path, "/", tag.name, ".safetensors"));
  if (!checkpoint_.info.best.empty()) sync_directory(directory.path);
  logger::info("[checkpoints] saved '", path, "'.");
  delete_superfluous(directory, checkpoint_.info.run);
}

void CheckpointSaver::wait() {
  if (!thread_.joinable()) return;
  thread_.join();
  checkpoint_ = {};
  if (failure_.empty()) failed_in_a_row_ = 0;
  else note_failure(failure_);
}

void CheckpointSaver::cancel() {
  if (thread_.joinable() && checkpoint_.info.best.empty()) is_cancelled_ = true;
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
}

}  // namespace martello
