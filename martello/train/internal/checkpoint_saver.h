#pragma once
#include <martello/base/directory_lock.h>
#include <martello/train/checkpoint_contents.h>

#include <atomic>
#include <string>
#include <thread>
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
  // The run goes on with what it has when the checkpoint is on its way. Throws FileError after too many failures.
  void start(Checkpoint checkpoint, const std::vector<std::string>& dirs);
  // Gives up the one on its way, unless that says something that no other will say.
  void cancel();
  void wait();
  void write_crash(const Checkpoint& checkpoint);  // crash-<global_step>.safetensors; throws
  void close();                                    // waits, and gives the directories back
  // One that could not even be started.
  void note_failure(const std::string& why);

  int64_t num_failed() const { return num_failed_; }
  bool has_last_failed() const { return failed_in_a_row_ > 0; }
  const std::string& last_failure() const { return last_failure_; }

 private:
  struct Held {
    CommitPoint::Directory directory;
    DirectoryLock lock;
  };
  void write_all();
  void write_to(const CommitPoint::Directory& directory);
  void check_failures() const;

  std::vector<Held> directories_;
  std::thread thread_;
  Checkpoint checkpoint_;  // on its way: the thread's, until it is joined
  std::vector<CommitPoint::Directory> targets_;
  std::string failure_;  // of the thread
  std::atomic<bool> is_cancelled_ = false;

  int64_t num_failed_ = 0, failed_in_a_row_ = 0;
  std::string last_failure_;
};

}  // namespace martello
