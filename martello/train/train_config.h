#pragma once
#include <martello/data/dataflow.h>
#include <martello/input/input_source.h>
#include <martello/loop/monitors.h>
#include <martello/loop/session_init.h>
#include <martello/train/model_desc.h>

#include <optional>
#include <string>
#include <vector>

namespace martello {

// Whether a run goes on where an earlier one was. docs/resume.md
struct ResumeOptions {
  // "none"; "auto": with the newest checkpoint of the savers' directories, or of the logger's, if there is one; or the
  // path of a checkpoint. A checkpoint that is damaged is left out, with an error in the log.
  std::string from = "none";
  // What may differ from the run that was saved: "graph", "callbacks", "data" ..., as the refusal names it.
  std::vector<std::string> accept = {};
};

// What every trainer can be given.
struct TrainOptions {
  CallbackList callbacks = {};
  std::optional<CallbackList> extra_callbacks = {};        // come after `callbacks`; none: default_callbacks()
  std::optional<std::vector<Ref<Monitor>>> monitors = {};  // none: default_monitors()
  Ref<SessionInit> session_init = {};
  std::optional<int64_t> steps_per_epoch = {};  // required
  int64_t starting_epoch = 1;
  int64_t max_epoch = 9999999;  // inclusive
  SessionOptions session = {};
  ResumeOptions resume = {};
  bool handle_signals = false;  // SIGINT, SIGTERM and SIGUSR1 end training; see InterruptScope
  double grace_seconds = 30;
};

// What a trainer of one cost needs to do everything by itself. A plain value: fields may be set one by one.
struct TrainConfig {
  Ref<ModelDesc> model = {};
  DataFlowRef dataflow = {};   // either this, which is prefetched by threads,
  Ref<InputSource> data = {};  // or this
  CallbackList callbacks = {};
  std::optional<CallbackList> extra_callbacks = {};
  std::optional<std::vector<Ref<Monitor>>> monitors = {};
  Ref<SessionInit> session_init = {};
  int64_t starting_epoch = 1;
  std::optional<int64_t> steps_per_epoch = {};  // none: the size of the data
  int64_t max_epoch = 99999;
  SessionOptions session = {};
  ResumeOptions resume = {};
  double grace_seconds = 30;  // of a launch, after a signal

  // Throws unless there is a model and exactly one kind of data.
  void check() const;
  // `data`, or what `dataflow` is wrapped into.
  Ref<InputSource> get_input() const;
  // steps_per_epoch, or the size of the data; an error when neither is known.
  int64_t get_steps_per_epoch() const;
  TrainOptions options() const;
};

// A config whose run goes on where it was, whenever its program is started again: with a ModelSaver among the callbacks
// and a log directory that is kept (logger::OldRun::keep).
struct AutoResumeTrainConfig : TrainConfig {
  AutoResumeTrainConfig();
  explicit AutoResumeTrainConfig(TrainConfig config);
};

// The callbacks and monitors that train_with_defaults() and the launch functions add: new objects at each call.
CallbackList default_callbacks();
std::vector<Ref<Monitor>> default_monitors();

}  // namespace martello
