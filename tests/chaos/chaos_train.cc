// chaos_train DIR [key=value ...]: a training that is made to be killed, and goes on when it is started again. It has
// what makes a run hard to repeat: dropout, batch norm, Adam, shuffling, random crops, data threads, validation. When
// it has finished it writes DIR/digest.txt, which must be the same however often it was interrupted.
#include "digest.h"

#include <martello/martello.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace mt = martello;

namespace {

constexpr int64_t kSamples = 48, kBatch = 8, kSide = 8;

struct Settings {
  std::string dir;
  int64_t epochs = 3, steps = 8;  // per epoch
  int64_t save_every = 1;         // steps
  int64_t threads = 2;            // of data
  int64_t accumulate = 1;         // above 1: without batch norm
  int64_t kill_at = -1;           // global_step
  int64_t throw_at = -1;
  int64_t stop_after = -1;  // global_step at which it stops for good
  int64_t slow_ms = 0;      // in every step
};

Settings parse(int argc, char** argv) {
  Settings s{.dir = argv[1]};
  const std::map<std::string, int64_t*> fields = {
      {"epochs", &s.epochs},         {"steps", &s.steps},           {"save_every", &s.save_every},
      {"threads", &s.threads},       {"kill_at", &s.kill_at},       {"throw_at", &s.throw_at},
      {"accumulate", &s.accumulate}, {"stop_after", &s.stop_after}, {"slow_ms", &s.slow_ms}};
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    *fields.at(word.substr(0, equals)) = std::atoll(word.c_str() + equals + 1);
  }
  return s;
}

struct Net : mt::ModelDesc {
  explicit Net(int64_t n) : accumulate(n) {}
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, kSide, kSide, 1}, mt::f32, "image"},
            {{mt::kUnknown}, mt::i32, "label"},
            {{mt::kUnknown}, mt::i32, "id"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    mt::LinearWrap net(in["image"]);
    net.conv2d("conv", {.filters = 4, .kernel = 3});
    if (accumulate == 1) net.batch_norm("bn");
    net.dropout("drop", {.rate = 0.3}).fully_connected("fc0", {.units = 8, .activation = mt::relu});
    const auto logits = net.fully_connected("fc1", {.units = 3}).tensor();
    const auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, in["label"]), "cost");
    mt::reduce_mean(mt::prediction_incorrect(logits, in["label"], "incorrect"), "error");
    mt::add_moving_summary(mt::TensorList{cost});
    return cost;
  }
  mt::OptimizerRef optimizer() const override {
    const mt::OptimizerRef adam = mt::Adam(mt::get_scalar_var("learning_rate", 0.01));
    if (accumulate == 1) return adam;
    return mt::AccumGradOptimizer(adam, accumulate);
  }
  int64_t accumulate;
};

// 10x10 images, cut to 8x8 at a random place.
mt::DataFlowRef samples(int64_t threads) {
  const auto source = mt::data::from_index(kSamples, [](int64_t i, mt::Rng& rng) {
    mt::HostTensor image({kSide + 2, kSide + 2, 1}, mt::f32);
    for (float& pixel : image.mutable_data<float>()) pixel = static_cast<float>(rng.uniform());
    return mt::Datapoint(image, static_cast<int32_t>(i % 3), static_cast<int32_t>(i));
  });
  const auto crop = [](mt::Datapoint d, mt::Rng& rng) {
    const auto dy = static_cast<int64_t>(rng.uniform() * 3), dx = static_cast<int64_t>(rng.uniform() * 3);
    mt::HostTensor cut({kSide, kSide, 1}, mt::f32);
    const auto from = d[0].data<float>();
    const auto to = cut.mutable_data<float>();
    for (int64_t y = 0; y < kSide; ++y)
      for (int64_t x = 0; x < kSide; ++x)
        to[static_cast<size_t>(y * kSide + x)] = from[static_cast<size_t>((y + dy) * (kSide + 2) + x + dx)];
    d[0] = cut;
    return d;
  };
  return source.shuffle().parallel_map(crop, {.threads = static_cast<int>(threads)});
}

// Remembers which samples were trained on, and dies where it is told to.
class Witness : public mt::Callback {
 public:
  Witness(std::vector<int64_t>& ids, Settings settings) : ids_(ids), settings_(std::move(settings)) {}
  std::string name() const override { return "Witness"; }
  void setup_graph() override { tensor_ = context().get_tensor("id"); }
  void before_run(mt::RunContext& run) override { run.fetch(tensor_); }
  void after_run(mt::RunContext& run) override {
    for (const int32_t id : run.value().data<int32_t>()) ids_.push_back(id);
  }
  void trigger_step() override {
    if (settings_.slow_ms > 0) usleep(static_cast<useconds_t>(1000 * settings_.slow_ms));
    monitors().put_scalar("last_id", static_cast<double>(ids_.back()));
    if (global_step() == settings_.kill_at) std::raise(SIGKILL);
    if (global_step() == settings_.throw_at) throw std::runtime_error("thrown on purpose");
    if (global_step() == settings_.stop_after) throw mt::StopTraining("on purpose");
  }
  void state(mt::State& s) override { s("ids", ids_); }

 private:
  std::vector<int64_t>& ids_;
  Settings settings_;
  mt::Tensor tensor_;
};

mt::TrainEnd train(const Settings& s, std::vector<int64_t>& ids, mt::SimpleTrainer& trainer) {
  mt::AutoResumeTrainConfig config(
      {.model = Net(s.accumulate),
       .dataflow = samples(s.threads).batch(kBatch),
       .callbacks = {mt::PeriodicTrigger(mt::ModelSaver({.max_to_keep = 3}), {.steps = s.save_every, .epochs = 1}),
                     mt::InferenceRunner(samples(1).batch(kBatch),
                                         {mt::ScalarStats({"cost"}), mt::ClassificationError("incorrect")}),
                     mt::MinSaver("validation_cost"),
                     mt::ScheduledHyperParamSetter("learning_rate", {{0, 0.01}, {1, 0.003}}), Witness(ids, s)},
       .monitors = std::vector<mt::Ref<mt::Monitor>>{mt::TFEventWriter(), mt::JSONWriter(), mt::CSVWriter()},
       .steps_per_epoch = s.steps,
       .max_epoch = s.epochs,
       .session = {.threads = 1}});
  return mt::launch_train_with_config(config, trainer);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = parse(argc, argv);
    mt::logger::set_logger_dir(settings.dir, mt::logger::OldRun::keep);
    std::vector<int64_t> ids;
    mt::SimpleTrainer trainer;
    const mt::TrainEnd end = train(settings, ids, trainer);
    if (end.is_success()) chaos::write_digest(settings.dir, trainer, ids);
    return end;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
