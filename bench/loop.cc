// What a trainer costs besides its steps.
//   martello_loop_bench                steps per second of a trainer that does nothing, and mlp in a bare session, in a
//                                      trainer, and in a trainer whose data comes through the default input pipeline
//   martello_loop_bench mlp_trainer    the last of these as a line for peers/run.py
#include "memory.h"
#include "stopwatch.h"
#include "timing.h"
#include "train/train.h"

#include <martello/callbacks/wrappers.h>
#include <martello/martello.h>
#include <martello/train/single_cost_trainer.h>

#include <algorithm>
#include <cstdio>

namespace mt = martello;

namespace {

constexpr double kLeastStepsPerSecond = 200000;
constexpr double kMostLoss = 0.03;
constexpr int64_t kBatch = 64;
constexpr int kEpochs = 6;  // the first one warms up, the best of the others counts

class Feeder : public mt::Callback {
 public:
  explicit Feeder(const bench::Work& work) : work_(work) {}
  void before_run(mt::RunContext& run) override {
    run.feed(work_.x, work_.x_value);
    run.feed(work_.label, work_.label_value);
  }

 private:
  bench::Work work_;
};

double seconds_per_step(mt::Trainer& trainer, mt::CallbackList callbacks, int64_t steps) {
  std::vector<double> seconds;
  callbacks.push_back(bench::Stopwatch(seconds));
  const mt::TrainEnd end =
      trainer.train_with_defaults({.callbacks = std::move(callbacks), .steps_per_epoch = steps, .max_epoch = kEpochs});
  end.rethrow();
  return *std::min_element(seconds.begin() + 1, seconds.end()) / static_cast<double>(steps);
}

double no_op_seconds(int num_idle) {
  mt::CallbackList idle;
  for (int i = 0; i < num_idle; ++i) idle.push_back(mt::CallbackFactory({}));
  mt::NoOpTrainer trainer;
  return seconds_per_step(trainer, idle, 100000);
}

double trained_seconds(const char* name, int64_t steps) {
  mt::GraphScope graph;
  const bench::Work work = bench::build_work(name);
  mt::Trainer trainer;
  trainer.train_op = work.train;
  trainer.register_callback(Feeder(work));
  return seconds_per_step(trainer, {}, steps);
}

// The same mlp as a tower function.
struct Mlp : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{kBatch, 784}, mt::f32, "x"}, {{kBatch}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    const auto hidden = mt::fully_connected("fc0", in["x"], {.units = 256, .activation = mt::relu});
    const auto logits = mt::fully_connected("fc1", hidden, {.units = 10});
    return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, in["label"]), "cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Momentum(0.01, {.momentum = 0.9}); }
};

// A flow that has its batch ready, so that the pipeline is all that is added.
mt::DataFlowRef ready_batch() {
  return mt::data::from_list(
      {mt::Datapoint(mt::HostTensor({kBatch, 784}, mt::f32), mt::HostTensor({kBatch}, mt::i32))});
}
// As a user trains: samples are shuffled and copied into batches.
mt::DataFlowRef shuffled_samples() {
  return mt::data::from_arrays({mt::HostTensor({20000, 784}, mt::f32), mt::HostTensor({20000}, mt::i32)})
      .shuffle()
      .batch(kBatch);
}

double fed_seconds(const mt::DataFlowRef& flow, int64_t steps) {
  mt::disable_layer_logging();
  std::vector<double> seconds;
  const mt::TrainConfig config{.model = Mlp(),
                               .dataflow = flow,
                               .callbacks = {bench::Stopwatch(seconds)},
                               .steps_per_epoch = steps,
                               .max_epoch = kEpochs};
  mt::SimpleTrainer(config).train().rethrow();
  return *std::min_element(seconds.begin() + 1, seconds.end()) / static_cast<double>(steps);
}

double bare_seconds(const char* name, int64_t steps) {
  mt::GraphScope graph;
  const bench::Work work = bench::build_work(name);
  mt::Session session;
  mt::PreparedRun run = session.prepare(work.train, {work.x, work.label});
  run.feed(0, work.x_value);
  run.feed(1, work.label_value);
  double best = 1e9;
  for (int block = 0; block < kEpochs; ++block) {
    const double start = bench::now_seconds();
    for (int64_t i = 0; i < steps; ++i) run.run();
    if (block > 0) best = std::min(best, bench::now_seconds() - start);
  }
  return best / static_cast<double>(steps);
}

int print_figure() {
  const double base_mb = bench::resident_mb(), seconds = fed_seconds(ready_batch(), 500);
  std::printf(
      "{\"work\": \"mlp_trainer\", \"variant\": \"martello\", \"ms\": %.4f, \"base_mb\": %.1f, \"peak_mb\": %.1f}\n",
      1e3 * seconds, base_mb, bench::peak_mb());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  mt::logger::set_level(mt::logger::Level::warn);
  if (argc > 1 && std::string_view(argv[1]) == "mlp_trainer") return print_figure();
  const double plain = no_op_seconds(0), idle = no_op_seconds(32);
  std::printf("no-op trainer, default callbacks: %.0f steps/s (at least %.0f)\n", 1 / plain, kLeastStepsPerSecond);
  std::printf("  32 more callbacks that do nothing: %.1f ns each and step\n", 1e9 * (idle - plain) / 32);
  const double bare = bare_seconds("mlp", 500), trained = trained_seconds("mlp", 500);
  std::printf("mlp: session %.1f us, trainer %.1f us a step, %+.1f %% (at most %.0f)\n", 1e6 * bare, 1e6 * trained,
              100 * (trained / bare - 1), 100 * kMostLoss);
  const double ready = fed_seconds(ready_batch(), 500), shuffled = fed_seconds(shuffled_samples(), 500);
  std::printf(
      "  default input pipeline: ready batches %.1f us, %+.1f %% (at most %.0f); shuffled samples %.1f us, %+.1f %%\n",
      1e6 * ready, 100 * (ready / bare - 1), 100 * kMostLoss, 1e6 * shuffled, 100 * (shuffled / bare - 1));
  const double most = (1 + kMostLoss) * bare;
  return 1 / plain < kLeastStepsPerSecond || trained > most || ready > most;
}
