#pragma once
#include <martello/base/owned.h>
#include <martello/runtime/hooked_session.h>
#include <martello/train/train_config.h>
#include <martello/train/train_end.h>

#include <memory>

namespace martello {

class TowerFunc;
class TrainerContext;
struct LoopPosition;

// A double loop and callbacks, nothing else: epochs of steps, each step a call of run_step(). The graph may be built
// before the trainer is made, in its constructor, or in setup(). A trainer is trained once.
//   Trainer trainer;
//   trainer.train_op = Adam(0.01).minimize(loss);
//   return trainer.train_with_defaults({.steps_per_epoch = 100, .max_epoch = 10});
class Trainer {
 public:
  explicit Trainer(Graph graph = Graph::current_or_new());  // the open graph, else one of its own
  explicit Trainer(TrainConfig config);                     // the older interface: train() without arguments
  Trainer(Trainer&&) noexcept;
  virtual ~Trainer();

  Operation train_op;  // what run_step() runs unless overridden

  // Before train(). These come first in the order of callbacks. False: chief-only, and this process is not the chief.
  bool register_callback(Ref<Callback> callback, SourceLine line = SourceLine::current());
  void register_callbacks(const CallbackList& callbacks, SourceLine line = SourceLine::current());

  // Wrong use before the first step throws; what happens while training runs is in the TrainEnd.
  TrainEnd train(SourceLine line = SourceLine::current());  // with the config given to the constructor
  TrainEnd train(TrainOptions options, SourceLine line = SourceLine::current());
  // Adds default_callbacks() and default_monitors() unless others are given.
  TrainEnd train_with_defaults(TrainOptions options, SourceLine line = SourceLine::current());

  Graph graph() const;
  const TrainLoop& loop() const;
  Session& sess();               // while train() runs
  HookedSession& hooked_sess();  // runs around which the callbacks' hooks are called
  Monitors& monitors();
  virtual bool is_chief() const { return true; }

 protected:
  // Called by train() before callbacks are set up, with graph() current.
  virtual void setup() {}
  virtual void run_step();
  // Where training towers are, in order; "" leaves the choice to the planner.
  virtual std::vector<std::string> devices() const { return {""}; }
  virtual bool makes_one_run_per_step() const { return true; }  // a step with none or several is warned about
  // Makes hooked_sess() out of callback_hooks(). Who overrides it to make more sessions calls it too.
  virtual void initialize_hooks();
  std::vector<RunHook*> callback_hooks() const;  // valid while train() runs
  const TrainConfig& config() const;             // given to the constructor
  bool has_config() const;
  const CallbackList& registered_callbacks() const;

  // What TowerTrainer adds.
  virtual TowerFunc* find_tower_func() const { return nullptr; }
  virtual OnlinePredictor make_predictor(const std::vector<std::string>& inputs,
                                         const std::vector<std::string>& outputs, int device);
  virtual TowerHandle make_predict_tower(std::string_view name, int device, TowerFunc* function,
                                         const std::function<TensorList()>& inputs);
  virtual void use_session(const std::shared_ptr<Session>&) {}

 private:
  friend class TrainerContext;
  struct Impl;
  void setup_callbacks(const TrainOptions& options);
  void initialize(const TrainOptions& options);
  void initialize_variables(const Ref<SessionInit>& init);
  TrainEnd main_loop();
  void run_epochs();
  bool run_epoch(const LoopPosition& from);
  bool run_steps(int64_t first);
  void finish(TrainEnd& end);

  Owned<Impl> impl_;
};

}  // namespace martello
