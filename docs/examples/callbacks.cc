// The examples of docs/callbacks.md, each used in a small training.
#include <martello/callbacks/averaged_weights.h>
#include <martello/callbacks/dump_tensors.h>
#include <martello/callbacks/early_stopping.h>
#include <martello/callbacks/graph_profiler.h>
#include <martello/callbacks/human_setter.h>
#include <martello/callbacks/lr_finder.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/callbacks/process_tensors.h>
#include <martello/callbacks/progress_bar.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/run_update_ops.h>
#include <martello/callbacks/scheduled_setter.h>
#include <martello/callbacks/send_stat.h>
#include <martello/callbacks/start_thread.h>
#include <martello/callbacks/summaries.h>
#include <martello/callbacks/trackers.h>
#include <martello/callbacks/wrappers.h>
#include <martello/loop/monitors.h>
#include <martello/martello.h>
#include <martello/train/trainer.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace mt = martello;

namespace {

class Watch : public mt::Callback {
 public:
  explicit Watch(std::string tensor) : tensor_(std::move(tensor)) {}
  void setup_graph() override { loss_ = context().get_tensor(tensor_); }
  void before_run(mt::RunContext& run) override { run.fetch(loss_); }
  void after_run(mt::RunContext& run) override { sum_ += run.value().scalar<float>(); }
  void trigger() override {
    best_ = std::min(best_, sum_);
    monitors().put_scalar("best_sum", best_);
    sum_ = 0;
    if (std::isnan(best_)) throw mt::StopTraining("the loss is no number");
  }
  std::vector<std::string> provides() const override { return {"best_sum"}; }
  void state(mt::State& s) override {
    s("best", best_);
    s("sum", sum_);
  }

 private:
  std::string tensor_;
  mt::Tensor loss_;
  double sum_ = 0, best_ = 1e30;
};

mt::CallbackList from_functions() {
  return {mt::CallbackFactory(
      {.trigger =
           [](mt::TrainContext& c) { c.monitors().put_scalar("learning_rate", c.sess().get("learning_rate").at(0)); },
       .provides = {"learning_rate"}})};
}

mt::CallbackList when_examples() {
  return {mt::PeriodicTrigger(mt::CheckNumerics(), {.steps = 500, .epochs = 1}),
          mt::PeriodicCallback(mt::TensorPrinter({"cost"}), {.steps = 100}),
          mt::EnableCallbackIf(mt::ThroughputTracker(),
                               [](const mt::TrainContext& c) { return c.loop().epoch_num % 2 == 0; })};
}

mt::CallbackList progress_examples() {
  return {mt::ProgressBar({"cost"}),   // 45%|####5     |45/100 [00:12<00:15, 3.60 steps/s] cost=0.123
          mt::EstimatedTimeLeft(),     // "Estimated Time Left: 2 hours 5 minutes", after each epoch
          mt::ThroughputTracker(128),  // the scalar `Throughput (samples/sec)`
          mt::HostMemoryTracker(),     // the scalar `HostFreeMemory (GB)`
          mt::SendStat("echo cost is {cost:.3f}", {"cost"})};  // a command with the newest values
}

mt::CallbackList graph_examples(double& sum) {
  return {mt::RunOp([] { return mt::assign(mt::get_scalar_var("counter", 0), 1); }, {.before = false}),
          mt::RunUpdateOps(),  // with every step: what batch_norm does to its averages
          mt::ProcessTensors({"cost"}, [&](const mt::HostTensors& v) { sum += v[0].scalar<float>(); }),
          mt::CheckNumerics(),             // NaN or infinity in a weight fails the run, by name
          mt::SessionRunTimeout(60'000)};  // and so does a step of more than a minute
}

mt::CallbackList summary_examples() {
  return {mt::MovingAverageSummary(),              // keeps the averages of add_moving_summary()
          mt::MergeAllSummaries({.period = 100}),  // puts summaries of the graph: each epoch, and every 100 steps
          mt::SimpleMovingAverage({"cost"}, 10)};  // the scalar `cost/SMA`, the mean of 10 steps
}

mt::CallbackList file_examples() {
  return {mt::PeriodicCallback(mt::DumpTensors({"w"}), {.steps = 1000}),  // DumpTensor-<step>.npz
          mt::DumpTensorAsImage("picture"),                               // picture-ep001.png
          mt::PeriodicCallback(mt::GraphProfiler(), {.steps = 1000})};    // chrome-trace-<step>.json
}

struct Noise {
  double strength = 1;
};

mt::CallbackList setter_examples(const std::shared_ptr<Noise>& noise) {
  return {// 0.1 from the start, 0.01 once epoch 2 is done
          mt::ScheduledHyperParamSetter("learning_rate", {{0, 0.1}, {2, 0.01}}),
          // a warm-up, set after every step
          mt::ScheduledHyperParamSetter("momentum", {{0, 0.5}, {6, 0.9}},
                                        {.interp = mt::Interp::linear, .step_based = true}),
          // from epoch 3 on a little less with every epoch
          mt::HyperParamSetterWithFunc(
              "decay", [](int64_t epoch, double old) { return epoch >= 3 ? std::optional(old * 0.97) : std::nullopt; }),
          // a fifth, when `cost` has not fallen within three epochs; a number of the program instead of a variable
          mt::StatMonitorParamSetter(mt::ObjAttrParam(noise, &Noise::strength, "noise"), "cost",
                                     [](double old) { return old / 5; }, {.last_k = 3}),
          // whatever a line `learning_rate:0.03` of hyper.txt in the logger's directory says
          mt::HumanHyperParamSetter("learning_rate")};
}

mt::CallbackList end_examples() { return {mt::EarlyStopping("cost", {.patience = 5, .threshold = 1e-4})}; }

mt::CallbackList thread_examples(std::shared_ptr<std::atomic<int>> count) {
  return {mt::StartThread("simulator", [count](const mt::StopFlag& stop) {
    while (!stop.wait(0.001)) ++*count;
  })};
}

mt::CallbackList average_examples() {
  auto averages = mt::make<mt::AveragedWeights>(mt::AveragedWeightsOptions{.decay = 0.999});
  return {averages, mt::WithAveragedWeights(averages, mt::CheckNumerics())};
}

// Trains w towards 2. The cost after the last step.
double train(const mt::CallbackList& callbacks, int64_t steps = 5) {
  const mt::GraphScope graph;
  const auto w = mt::get_variable("w", {.initializer = mt::zeros()});
  const auto cost = mt::square(w - 2, "cost");
  mt::constant(mt::HostTensor(mt::Shape(4, 4), mt::f32), "picture");
  mt::get_scalar_var("momentum", 0);
  mt::get_scalar_var("decay", 1);
  mt::add_moving_summary({cost});
  mt::Trainer trainer;
  trainer.train_op = mt::GradientDescent(mt::get_scalar_var("learning_rate", 0.1)).minimize(cost);
  mt::CallbackList all = callbacks;
  for (const auto& c : summary_examples()) all.push_back(c);
  double last = 0;
  all.push_back(mt::ProcessTensors({"cost"}, [&](const mt::HostTensors& v) { last = v[0].scalar<float>(); }));
  const auto end = trainer.train({.callbacks = all, .steps_per_epoch = steps, .max_epoch = 4});
  if (!end.is_success()) std::printf("%s\n", end.str().c_str());
  return end.is_success() ? last : NAN;
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("does not hold: %s\n", what);
}

}  // namespace

int main() {
  char dir[] = "/tmp/martello_docs_XXXXXX";
  mt::logger::set_logger_dir(mkdtemp(dir), mt::logger::OldRun::keep);
  double sum = 0;
  const auto noise = mt::make<Noise>();
  const auto count = mt::make<std::atomic<int>>(0);
  for (const mt::CallbackList& list :
       {mt::CallbackList{Watch("cost")}, from_functions(), when_examples(), progress_examples(), graph_examples(sum),
        file_examples(), setter_examples(noise), end_examples(), thread_examples(count), average_examples()})
    expect(train(list) < 1, "the cost falls");
  expect(train({mt::LearningRateFinder("learning_rate", "cost")}, 25) >= 0, "the finder ends");
  expect(sum > 0, "ProcessTensors saw values");
  expect(noise->strength <= 1, "the plateau was looked for");
  expect(std::filesystem::exists(std::string(dir) + "/picture-ep004.png"), "pictures are written");
  expect(std::filesystem::exists(std::string(dir) + "/lr_finder.csv"), "the finder's curve is written");
  mt::logger::close_logger_dir();
  std::filesystem::remove_all(dir);
  return failures;
}
