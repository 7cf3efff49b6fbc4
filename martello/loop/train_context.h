#pragma once
#include <martello/loop/train_loop.h>
#include <martello/runtime/session.h>
#include <martello/tower/online_predictor.h>
#include <martello/tower/tower_handle.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

class CommitPoint;
class HookedSession;
class Monitors;
class TimeAccount;
class TowerFunc;

// What a callback may see of training. Below `input` and `train`, so neither is needed to write one. Valid from
// setup_graph to after_train.
class TrainContext {
 public:
  virtual ~TrainContext() = default;
  virtual const TrainLoop& loop() const = 0;
  virtual Graph graph() const = 0;
  virtual bool is_chief() const = 0;

  // From before_train on. Runs that depend on the training input take data away from training.
  virtual Session& sess() const = 0;
  // Every run takes a datapoint and counts as a step; callbacks seldom want it.
  virtual HookedSession& hooked_sess() const = 0;
  virtual Monitors& monitors() const = 0;
  virtual CommitPoint& commit_point() const = 0;
  // Whether a resumed run may go on although this differs from what the checkpoint has: "data", "callbacks" ...
  virtual bool accepts(std::string_view /*difference*/) const { return false; }
  // Whether this run was to be resumed, but there was no checkpoint: what log files hold is of an attempt that died
  // early. From before_train on.
  virtual bool starts_over() const { return false; }
  // Where the time of steps goes; null when nobody keeps account.
  virtual TimeAccount* time_account() const { return nullptr; }

  // In the order in which they were built, predict towers among them; none for a trainer without towers.
  virtual TowerHandles towers() const = 0;
  // By its full name, else in the first training tower; the error has near misses.
  virtual Tensor get_tensor(std::string_view name, SourceLine line = SourceLine::current()) const = 0;
  // Of the trainer's tower function in inference mode, for device number `device` (negative: the CPU). In setup_graph,
  // or later when a predictor of this device exists; it can be called from before_train on.
  virtual OnlinePredictor get_predictor(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                                        int device = 0) = 0;
  // Builds a tower function (null: the trainer's) in inference mode, with the variables of the training tower on that
  // device. In setup_graph; `inputs` is called inside the tower.
  virtual TowerHandle build_predict_tower(std::string_view tower_name, int device, TowerFunc* function,
                                          const std::function<TensorList()>& inputs) = 0;
  virtual const std::vector<TensorSpec>& input_signature() const = 0;
};

}  // namespace martello
