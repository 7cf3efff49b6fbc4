#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

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
};

// Savers request, the trainer commits: what is requested during a phase is written when every callback and monitor has
// had its turn of it, so no saver sees half a phase. The training thread's.
class CommitPoint {
 public:
  struct Commit {
    LoopPosition position;
    std::vector<std::string> tags;
  };
  using Writer = std::function<void(const Commit&)>;

  // `writer` runs at the next commit; a second request of the same name before it replaces the first.
  void request(std::string_view who, Writer writer);
  // Marks the pending commit, e.g. "min-validation_error": a best-saver may run before or after the saver.
  void tag(std::string_view tag);

  bool is_pending() const { return !requests_.empty(); }
  // By the trainer. Without requests nothing happens; a tag alone is dropped with a warning. All writers run, in the
  // order of their requests; the first error is thrown at the end.
  void commit(const LoopPosition& position);
  // What a failed phase asked for is not written.
  void cancel();

 private:
  struct Request {
    std::string who;
    Writer writer;
  };
  std::vector<Request> requests_;
  std::vector<std::string> tags_;
};

}  // namespace martello
