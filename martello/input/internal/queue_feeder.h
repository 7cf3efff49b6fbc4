#pragma once
#include <martello/input/internal/data_queue.h>
#include <martello/input/internal/signature_check.h>
#include <martello/loop/callback.h>

#include <optional>

namespace martello::internal {

struct QueueFeederParts {
  std::string name;   // of the callback and its scalar: "QueueInput"
  std::string who;    // in messages: "queue_input"
  DataFlowRef flow;   // as it is read: endless unless the source is finite
  uint64_t seed = 0;  // of the data passes
  QueueLimits limits = {};
};

// Takes a datapoint per tower and hooked run from a queue, and keeps the cursor of the last ones whose run was done:
// what lies in the queue, or was staged, is read again after a resume.
class QueueFeeder : public Callback, public WaitedInput {
 public:
  explicit QueueFeeder(QueueFeederParts parts);
  std::string name() const override { return parts_.name; }
  std::string name_scope() const override { return ""; }
  std::string description() const override;

  void setup(const std::vector<TensorSpec>& signature);
  TensorList add_tower();
  void stage(int64_t steps);
  void reset();

  void before_train() override;
  void before_run(RunContext& run) override;
  void after_run(RunContext& run) override;
  void trigger_epoch() override;
  void after_train() override;
  void state(State& s) override;
  std::string slowest_stage() override;

 private:
  using Group = std::vector<Item>;  // the datapoints of a step, by tower

  void start();
  QueueStart position();  // after the last run
  void fill();
  bool pop(Group& group);
  [[noreturn]] void throw_end() const;

  QueueFeederParts parts_;
  std::vector<TensorSpec> signature_;
  SignatureCheck check_;
  std::vector<TensorList> towers_;
  std::unique_ptr<DataQueue> queue_;
  TimeAccount* account_ = nullptr;

  int64_t staged_steps_ = 0;
  std::vector<Group> groups_;  // a ring
  size_t first_ = 0, count_ = 0, left_over_ = 0;

  QueueStart cursor_;      // its hash is filled in when it is asked for
  std::string started_;    // the position from which the queue reads, as bytes
  bool is_taken_ = false;  // something was, since then
  bool is_restored_ = false;
  double size_sum_ = 0;  // of the queue, since the last row
  int64_t num_sizes_ = 0;
};

}  // namespace martello::internal
