// Callbacks, inferencers and monitors of one's own beside those of the library.
#include <martello/martello.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace mt = martello;

class Watch : public mt::Callback {
 public:
  explicit Watch(std::string tensor) : tensor_(std::move(tensor)) {}
  void setup_graph() override {
    loss_ = context().get_tensor(tensor_);
    predict_ = context().get_predictor({"image"}, {"prob"});
  }
  void before_train() override { std::printf("epoch %ld\n", static_cast<long>(epoch_num())); }
  void before_epoch() override { sum_ = 0; }
  void before_run(mt::RunContext& run) override { run.fetch(loss_); }
  void after_run(mt::RunContext& run) override {
    sum_ += run.value().scalar<float>();
    if (sum_ > 1e9) run.request_stop();
  }
  void trigger_step() override {
    if (local_step() == 0) sess().run("reset");
  }
  void trigger_epoch() override { trigger(); }
  void trigger() override {
    best_ = std::min(best_, sum_);
    monitors().put_scalar("best", best_);
    monitors().put_image("sample", mt::HostTensor({28, 28, 1}, mt::f32));
    prob_ = predict_({mt::HostTensor({1, 28, 28, 1}, mt::f32)})[0];
    if (global_step() > 100000) throw mt::StopTraining("enough");
  }
  void state(mt::State& s) override { s("best", best_); }
  const mt::HostTensor& prob() const { return prob_; }

 private:
  std::string tensor_;
  mt::Tensor loss_;
  mt::OnlinePredictor predict_;
  mt::HostTensor prob_;
  double sum_ = 0, best_ = 1e30;
};

class Top5 : public mt::Inferencer {
 public:
  std::vector<std::string> fetches() const override { return {"prob", "label"}; }
  void before_inference() override { hit_ = total_ = 0; }
  void on_fetches(const mt::HostTensors& v) override {
    auto prob = v[0].data<float>();
    auto label = v[1].data<int>();
    for (size_t i = 0; i < label.size(); ++i) {
      const auto row = prob.subspan(10 * i, 10);
      const float mine = row[static_cast<size_t>(label[i])];
      hit_ += std::count_if(row.begin(), row.end(), [&](float p) { return p > mine; }) < 5;
    }
    total_ += static_cast<int64_t>(label.size());
  }
  mt::Scalars after_inference() override {
    return {{"top5", double(hit_) / double(std::max<int64_t>(total_, 1))}, {"samples", double(total_)}};
  }

 private:
  int64_t hit_ = 0, total_ = 0;
};

struct CsvMonitor : mt::Monitor {
  std::FILE* f = nullptr;
  void before_train() override { f = std::tmpfile(); }
  void process_scalar(std::string_view name, double v) override {
    std::fprintf(f, "%.*s,%g\n", int(name.size()), name.data(), v);
  }
  void after_train() override { std::fclose(f); }
};

static const std::vector<mt::TensorSpec> kSignature = {{{mt::kUnknown, 28, 28, 1}, mt::f32, "image"},
                                                       {{mt::kUnknown}, mt::i32, "label"}};

static mt::Tensor cost_of(mt::Tensor image, mt::Tensor label) {
  auto logits = mt::fully_connected("fc", image, {.units = 10});
  mt::softmax(logits, "prob");
  mt::prediction_incorrect(logits, label, "incorrect");
  return mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cost");
}

int main() {
  mt::logger::auto_set_dir();
  auto test = mt::data::fake(kSignature, 25).batch(10, {.remainder = true});
  mt::GraphScope graph;
  mt::SimpleTrainer trainer;
  trainer.setup_graph(kSignature, mt::QueueInput(mt::data::fake(kSignature).batch(10)), cost_of,
                      [] { return mt::GradientDescent(mt::get_scalar_var("learning_rate", 0.1)); });
  mt::assign(mt::get_scalar_var("counter", 5), 0.f, "reset");
  auto watch = mt::make<Watch>("cost");  // kept: used in two places
  double samples = 0;
  mt::TrainOptions options{
      .callbacks =
          {watch, mt::PeriodicTrigger(mt::ModelSaver(), {.epochs = 3}),
           mt::EnableCallbackIf(mt::ThroughputTracker(),
                                [](const mt::TrainContext& c) { return c.loop().epoch_num % 2 == 0; }),
           mt::InferenceRunner(test, {Top5(), mt::ScalarStats({"cost"})}),
           mt::PeriodicTrigger(mt::InferenceRunner(test, {mt::ClassificationError()}, {.tower_name = "second"}),
                               {.steps = 500, .epochs = 1}),
           mt::on_all_ranks(mt::RunOp([] { return mt::assign(mt::get_scalar_var("v", 0), 1); }, {.before = false})),
           mt::HyperParamSetterWithFunc(
               "learning_rate", [](int64_t e, double old) { return e > 3 ? std::optional(old * 0.8) : std::nullopt; }),
           mt::CallbackFactory(
               {.trigger = [&](mt::TrainContext& c) { c.monitors().put_scalar("x", 1); },
                .after_train = [&](mt::TrainContext& c) { samples = c.monitors().get_latest("samples"); }})},
      .extra_callbacks = mt::CallbackList{mt::ProgressBar({"cost"})},
      .monitors = std::vector<mt::Ref<mt::Monitor>>{mt::JSONWriter(), CsvMonitor()},
      .steps_per_epoch = 3,
      .max_epoch = 5};
  const int rc = trainer.train(std::move(options));
  const bool holds = samples == 25 && watch->prob().num_elements() == 10 && trainer.sess().get("counter").at(0) == 0 &&
                     trainer.sess().get("learning_rate").at(0) < 0.09 && trainer.sess().get("v").at(0) == 1;
  return holds ? rc : 1;
}
