#pragma once
#include <martello/data/internal/bad_sample_guard.h>
#include <martello/data/internal/stage.h>
#include <martello/data/internal/stage_clock.h>
#include <martello/data/token.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace martello::data::internal {

struct ParallelParts {
  DataFlowRef source;
  MapFunction f;  // empty: datapoints pass unchanged
  std::string stage;
  int threads = 1;
  bool ordered = true;
  int64_t buffer_bytes = 0;
  BadSamples bad_samples = {};
};

// Note [Slots]: workers take turns at the source. Who has its turn waits for room, reads a datapoint, appends a slot
// for its result and works on it after its turn. Slots therefore lie in the order of the source. The consumer takes the
// first (ordered), or whichever is ready (not ordered), and slots leave at the front when they have been delivered: the
// front is the watermark. A position is the token of the slot before the watermark and the ordinals delivered beyond
// it. Room is a matter of bytes, but the first slot is always admitted, and a slot that was admitted needs nothing more
// to be finished, so the consumer never waits for something that waits for it.
class ParallelIterator final : public StageIterator {
 public:
  ParallelIterator(ParallelParts parts, const Pass& pass);
  ~ParallelIterator() override;

 private:
  struct Slot {
    enum class State { working, ready, delivered };
    int64_t ordinal = 0;
    Token after;
    State state = State::working;
    std::optional<Datapoint> result = {};
    std::exception_ptr error = {};
    bool is_source_error = false;
    int64_t bytes = 0;
  };

  std::optional<Datapoint> produce() override;
  void position(martello::State& s) override;
  void advance(int64_t n) override;

  void start();
  void stop();
  void work();
  void wait_until_ready(std::unique_lock<std::mutex>& lock);
  bool work_once();
  bool take(Datapoint& input, Slot*& slot);
  bool wait_for_room();
  bool has_room() const;
  Slot* admit(Token after);
  void end(const std::exception_ptr& error);
  void run(Slot& slot, Datapoint input);
  void finish(Slot& slot, std::optional<Datapoint> result, std::exception_ptr error);
  Slot* find_ready();
  std::optional<Datapoint> deliver(Slot& slot);
  void drop_delivered();

  ParallelParts parts_;
  uint64_t key_;
  std::shared_ptr<Interrupt> outer_, inner_;  // ends our waits; ends those of the source
  int64_t waker_ = -1;
  std::shared_ptr<StageTimes> times_;
  std::string source_stage_;  // of a source that is no stage of this library
  BadSampleGuard guard_;
  std::vector<std::thread> threads_;

  std::mutex source_mutex_;  // taken before mutex_
  TokenIterator source_;

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::deque<Slot> slots_;           // references stay valid while slots come and go at the ends
  std::deque<Slot*> finished_;       // not ordered: ready slots, first come first served
  std::set<int64_t> was_delivered_;  // ordinals that a restored position has beyond its watermark
  Token watermark_;                  // of the last slot that left
  int64_t watermark_ordinal_ = 0, next_ordinal_ = 0;
  int64_t held_bytes_ = 0, working_ = 0, usual_bytes_ = 0;
  bool source_done_ = false, is_stopping_ = false, is_interrupted_ = false;
};

}  // namespace martello::data::internal
