#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace martello {

class State;

// The phases of training, one per hook of a callback.
enum class Phase : uint8_t {
  setup_graph,
  before_train,
  before_epoch,
  before_run,
  after_run,
  trigger_step,
  after_epoch,
  trigger_epoch,
  after_train
};
std::string_view to_string(Phase phase);

// From where a run goes on: never derived from global_step, because a step may make any number of hooked runs.
struct LoopPosition {
  int64_t epoch_num = 0;
  int64_t steps_done = 0;  // of this epoch
  Phase phase = Phase::before_train;
  size_t next_callback = 0;  // of the phase; all of them have had their turn when it is their number
  bool operator==(const LoopPosition&) const = default;
};

// Which checkpoints of a directory stay when a new one is there: those that any rule wants.
struct Retention {
  int64_t newest = 10;       // so many; 0: all
  int64_t every_epochs = 0;  // and those at the end of every so manieth epoch; 0: none
  double every_minutes = 0;  // and one for every such time; 0: none
};

// Says that a checkpoint is among the best ones by a statistic.
struct BestTag {
  std::string name = {};  // "min-validation_error", also that of the file which is the best one
  double value = 0;
  bool is_max = false;
  int64_t keep = 1;      // so many of the best stay, whatever Retention says
  bool is_best = true;   // of all so far
  std::string dir = {};  // of its saver; the file of another directory does not have it
};
// Who tags, from setup_graph on.
struct BestTagger {
  std::string who = {};   // "MinSaver 'error'", in messages
  std::string dir = {};   // of the tag
  std::string name = {};  // of the tag
  // A checkpoint with this tag could not be saved: it is not among the best ones.
  std::function<void(double value)> lost = {};
};

// Savers request, the trainer commits: what is requested during a phase is written when every callback and monitor has
// had its turn of it, so no saver sees half a phase. The training thread's.
class CommitPoint {
 public:
  struct Commit {
    LoopPosition position;
    std::vector<std::string> tags;
    std::vector<std::string> checkpoints = {};  // directories, each once
    std::vector<BestTag> best = {};
  };
  using Writer = std::function<void(const Commit&)>;

  // `writer` runs at the next commit; a second request of the same name before it replaces the first.
  void request(std::string_view who, Writer writer);
  // Marks the pending commit, e.g. "min-validation_error": a best-saver may run before or after the saver.
  void tag(std::string_view tag);

  // In setup_graph: checkpoints will be saved to `dir`. Of several rules for one directory the more generous counts;
  // all names of a directory mean it.
  void add_directory(const std::string& dir, const Retention& keep);
  // In setup_graph: a tag is one tagger's, because the best checkpoint is a file of that name.
  void add_tagger(BestTagger tagger);
  // Later: a checkpoint at the next commit, once however often it is asked for.
  void request_checkpoint(const std::string& dir);
  void tag_best(BestTag tag);
  // Before what is best so far is looked at: the save that is on its way with a tag has succeeded, or is told as lost.
  void settle();

  // What was requested and not committed yet.
  const std::vector<std::string>& pending_checkpoints() const { return checkpoints_; }
  void state(State& s);

  struct Directory {
    std::string path;
    Retention keep;
  };
  const std::vector<Directory>& directories() const { return directories_; }
  const std::vector<BestTagger>& taggers() const { return taggers_; }
  // By the trainer: what writes the checkpoints that were asked for.
  void set_checkpoint_writer(Writer writer) { checkpoint_writer_ = std::move(writer); }
  // By the trainer: what settle() does.
  void set_settler(std::function<void()> settler) { settler_ = std::move(settler); }
  // By the trainer: a checkpoint with this tag could not be saved.
  void tell_lost(const BestTag& tag) const;

  bool is_pending() const { return !requests_.empty() || !checkpoints_.empty(); }
  // By the trainer. Without requests nothing happens; a tag alone is dropped with a warning. All writers run, in the
  // order of their requests; the first error is thrown at the end.
  void commit(const LoopPosition& position);
  // What a failed phase asked for is not written.
  void cancel();
  // The same, where it could not be written and training goes on.
  void lose();

 private:
  struct Request {
    std::string who;
    Writer writer;
  };
  Commit take(const LoopPosition& position);
  Directory* find_directory(const std::string& dir);  // null: it was not told

  std::vector<Request> requests_;
  std::vector<std::string> tags_;
  std::vector<Directory> directories_;
  std::vector<std::string> checkpoints_;
  std::vector<BestTag> best_;
  std::vector<BestTagger> taggers_;
  Writer checkpoint_writer_;
  std::function<void()> settler_;
};

}  // namespace martello
