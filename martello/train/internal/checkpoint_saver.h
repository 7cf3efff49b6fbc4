#pragma once
#include <martello/base/directory_lock.h>
#include <martello/train/checkpoint_contents.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace martello {

// Writes checkpoints on a thread of its own while training goes on, one at a time: who comes with the next waits. Each
// is written aside, synced, renamed and read back before an older one is deleted. Owns the directories of a run: no
// other run gets them, and what a killed one left half-written is removed. A save that fails is told, counted and not
// done again: the next one is due soon; several in a row are an error.
class CheckpointSaver {
 public:
  static constexpr int64_t kMostFailures = 3;  // in a row

  ~CheckpointSaver();

  // Before training. `bytes` is about what a checkpoint has.
  void open(const std::vector<CommitPoint::Directory>& directories, int64_t bytes);
  // The run that has this checkpoint goes on from there. The file of a best one that was saved, but whose name a killed
  // process did not come to write, gets its name.
  void go_on(const CheckpointInfo& resumed, const std::vector<BestTagger>& taggers);
  // For the next checkpoint: later than all in the directories, also when the clock was set back.
  double next_time() const;
  // The run goes on with what it has when the checkpoint is on its way. Throws FileError after too many failures.
  void start(Checkpoint checkpoint, const std::vector<std::string>& dirs);
  // Gives up the one on its way for one that follows in the first directory, unless it is to stay besides that, or in
  // another directory.
  void cancel();
  bool has_tags_on_the_way() const { return thread_.joinable() && has_tags_; }
  void wait();
  // Tags of checkpoints that could not be saved, each once. After wait().
  std::vector<BestTag> take_lost() { return std::exchange(lost_, {}); }
  void write_crash(const Checkpoint& checkpoint);  // crash-<global_step>.safetensors; throws
  void close();                                    // waits, and gives the directories back
  // One that could not even be started.
  void note_failure(const std::string& why);
  void check_failures() const;  // throws FileError after too many

  int64_t num_failed() const { return num_failed_; }
  bool has_last_failed() const { return failed_in_a_row_ > 0; }
  const std::string& last_failure() const { return last_failure_; }

 private:
  struct Held {
    CommitPoint::Directory directory;
    DirectoryLock lock;
  };
  void write_all();
  void write_to(const CommitPoint::Directory& directory, CheckpointInfo info);
  void inherit(CheckpointInfo& info, const std::string& path) const;
  bool is_of_this_branch(const CheckpointInfo& info) const;
  void name_best(const CommitPoint::Directory& directory);

  std::optional<DirectoryLock> logger_dir_;
  std::vector<Held> directories_;
  std::thread thread_;
  Checkpoint checkpoint_;  // on its way: the thread's, until it is joined
  std::vector<CommitPoint::Directory> targets_;
  std::string failure_;  // of the thread
  std::vector<BestTag> lost_;
  // Best ones that are saved and have not got their names yet: paths by directory and tag.
  std::map<std::pair<std::string, std::string>, std::string> unnamed_;
  bool has_tags_ = false, is_needed_ = false;  // the one on its way
  std::atomic<bool> is_cancelled_ = false;

  // saved_at: of the checkpoint that is resumed, of the newest when the directories were opened, and of the last.
  double resumed_at_ = 0, opened_at_ = 0, last_time_ = 0;
  int64_t num_failed_ = 0, failed_in_a_row_ = 0;
  std::string last_failure_;
};

}  // namespace martello
