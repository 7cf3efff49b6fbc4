#pragma once
#include <martello/loop/callback_group.h>
#include <martello/loop/commit_point.h>
#include <martello/loop/human_time.h>
#include <martello/loop/time_account.h>
#include <martello/train/internal/checkpoint_saver.h>
#include <martello/train/internal/fingerprint.h>
#include <martello/train/internal/step_counter.h>
#include <martello/train/trainer.h>

#include <memory>
#include <optional>

namespace martello {

// Wrong use that only the first step can find: thrown by train(), not returned.
class WrongUse : public FailedPrecondition {
 public:
  using FailedPrecondition::FailedPrecondition;
};

// What callbacks see of a trainer.
class TrainerContext : public TrainContext {
 public:
  explicit TrainerContext(Trainer& trainer) : trainer_(trainer) {}
  const TrainLoop& loop() const override { return trainer_.loop(); }
  Graph graph() const override { return trainer_.graph(); }
  bool is_chief() const override { return trainer_.is_chief(); }
  Session& sess() const override { return trainer_.sess(); }
  HookedSession& hooked_sess() const override { return trainer_.hooked_sess(); }
  Monitors& monitors() const override { return trainer_.monitors(); }
  CommitPoint& commit_point() const override;
  bool accepts(std::string_view difference) const override;
  bool starts_over() const override;
  TimeAccount* time_account() const override;
  TowerHandles towers() const override;
  Tensor get_tensor(std::string_view name, SourceLine line) const override;
  OnlinePredictor get_predictor(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                int device) override {
    return trainer_.make_predictor(inputs, outputs, device);
  }
  TowerHandle build_predict_tower(std::string_view tower_name, int device, TowerFunc* function,
                                  const std::function<TensorList()>& inputs) override {
    return trainer_.make_predict_tower(tower_name, device, function, inputs);
  }
  const std::vector<TensorSpec>& input_signature() const override;

 private:
  TowerFunc& tower_func() const;
  Trainer& trainer_;
};

struct Trainer::Impl {
  explicit Impl(Graph g) : graph(std::move(g)), parts{.graph = graph} {}

  // before_train, and for a resumed run everything as the checkpoint has it. False when training must end.
  bool start();
  // One phase, from a callback on, and what was requested to be written after it. False when training must end.
  bool run_phase(Phase phase, size_t first = 0);
  // Writes what was requested, if anything was. A phase that was left half-way keeps it.
  void commit(Phase phase, size_t next_callback);
  bool is_interrupted() const;
  // What comes after everything that `done` says.
  LoopPosition next_of(const LoopPosition& done) const;

  // Finds the checkpoint to go on with and compares it with this run; before there is a session.
  void find_resumed(const ResumeOptions& options);
  // Variables, and states of callbacks, as in the checkpoint.
  void restore();
  void restore_variables() const;
  void restore_callbacks();
  LoopPosition resumed_position() const;
  // All that this run is, for a checkpoint.
  Checkpoint capture(const LoopPosition& at, std::string end, std::vector<BestTag> best = {});
  void save(const CommitPoint::Commit& commit);
  // At an interruption: where the run is. False when it could not be written.
  bool save_position();
  void save_crash(const std::string& why);
  // What is to be written now that training is over: its end, the position of an interruption, the state at an error.
  void save_at_end(TrainEnd& end);
  // A checkpoint that says how the run has ended, unless the last one does; and what is requested.
  void commit_end(const TrainEnd& end);
  // Whether variables are further than `position`, in a step that was not finished.
  bool is_in_a_step(const TrainEnd& end) const;
  bool has_ended_before() const;  // the run that is resumed was stopped for good
  bool flush_monitors();          // false: it failed, which counts as a failed save
  void settle_saves();            // waits for the one on its way, and tells whom it concerns what has become of it
  void report_failed_saves();
  void look_for_files();  // `stop` and `save` in the directory of checkpoints
  bool is_ending() const { return group->stop_reason() || is_interrupted(); }
  void check_runs_of_step(int64_t runs, bool expects_one);
  // Logs an epoch that is over, and says where its time went.
  void report_epoch(const TimeReport& time);
  // How a loop that was left without an error has ended.
  TrainEnd end_of_loop() const;

  Graph graph;
  std::optional<TrainConfig> config;
  TrainLoop loop;
  CallbackList registered;
  bool was_trained = false;
  bool callbacks_are_fixed = false;
  bool handles_signals = false;
  bool has_warned_of_runs = false;
  int64_t steps_done = 0;  // of the epoch
  CommitPoint commit_point;
  TimeAccount account;
  Fetches train_fetches;  // of train_op, made once

  CheckpointSaver saver;
  std::optional<Checkpoint> resumed;      // once training has begun only what it says of itself
  bool is_resumed_by_itself = false;      // "auto", not the path of a checkpoint
  std::optional<LoopPosition> position;   // after the last phase or step; none in before_train
  int64_t position_step = 0;              // global_step there
  std::optional<LoopPosition> committed;  // of the last checkpoint
  bool is_end_told = false;               // by that checkpoint
  std::string told_end;                   // by the next one, when training is over
  FingerprintParts parts;
  Fingerprint fingerprint;
  std::string run;  // its name, in checkpoints
  std::vector<std::string> accepted;
  bool has_stop_file = false;
  double looked_at = 0;  // seconds
  int64_t told_failures = 0;

  std::shared_ptr<MaintainStepCounter> step_counter;
  std::shared_ptr<Monitors> monitors;
  std::shared_ptr<Session> session;
  std::unique_ptr<TrainerContext> context;
  std::unique_ptr<CallbackGroup> group;
  std::optional<HookedSession> hooked;
};

// The callbacks of a training in their final order; refuses what may not be among them.
CallbackList final_callbacks(const CallbackList& registered, const CallbackList& with_step, const TrainOptions& options,
                             bool is_chief);
// Logs a table of the trainable variables; warns when there are none.
void describe_trainable_variables(const Graph& graph);

}  // namespace martello
