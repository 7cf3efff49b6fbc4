// Data flows: five ways to write one, and what can be made of them.
#include <martello/martello.h>
#include <cstdio>
#include <mutex>
#include <stdexcept>
namespace mt = martello;
// (a) by index
struct Squares : mt::IndexedFlow {
  int64_t count() const override { return 100; }
  mt::Datapoint get(int64_t i, mt::Rng& rng) const override { return {float(i * i) + float(rng.uniform()), i % 10}; }
};
// (b) as a coroutine in a class
struct Lines : mt::GeneratorFlow {
  std::vector<std::string> files;
  explicit Lines(std::vector<std::string> f) : files(std::move(f)) {}
  mt::Generator<mt::Datapoint> generate(mt::Pass pass) const override {
    auto rng = pass.rng();
    for (auto& f : files) {
      if (f.empty()) throw std::runtime_error("empty file name");
      mt::HostTensor image({28, 28, 1}, mt::f32);
      image.mutable_data<float>()[0] = float(rng.uniform());
      co_yield {image, int(f.size())};
      co_yield {mt::HostTensor({28, 28}, mt::f32), 3};  // braces inside the expression
    }
  }
};
// (c) with an iterator of its own whose position is saved
struct Counter : mt::DataFlow {
  struct It : mt::DataIterator {
    int64_t i = 0;
    std::optional<mt::Datapoint> next() override {
      if (i == 5) return std::nullopt;
      return mt::Datapoint{i++};
    }
    void state(mt::State& s) override { s("i", i); }
  };
  std::unique_ptr<mt::DataIterator> iterate(mt::Pass) const override { return std::make_unique<It>(); }
};
// (d) one object that is data and callback (replay memory); a data thread reads what the training thread writes
class Replay : public mt::GeneratorFlow, public mt::Callback {
 public:
  mt::Generator<mt::Datapoint> generate(mt::Pass) const override {
    for (;;) co_yield mt::Datapoint{latest()};
  }
  void trigger_step() override {
    const std::lock_guard lock(mutex_);
    memory_.push_back(1.f);
  }
  size_t size_of_memory() const {
    const std::lock_guard lock(mutex_);
    return memory_.size();
  }

 private:
  float latest() const {
    const std::lock_guard lock(mutex_);
    return memory_.back();
  }
  mutable std::mutex mutex_;
  std::vector<float> memory_ = {0.f};
};
struct Mean : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override { return {{{mt::kUnknown}, mt::f32, "x"}}; }
  mt::Tensor build_graph(mt::TensorList in) const override {
    return mt::reduce_mean(mt::square(in[0] - mt::get_variable("mean", {.initializer = mt::zeros()})));
  }
  mt::OptimizerRef optimizer() const override { return mt::GradientDescent(0.2); }
};
static int count(const mt::DataFlowRef& f) {
  int n = 0;
  auto it = f->iterate({});
  while (it->next()) ++n;
  return n;
}
int main() {
  // (e) a coroutine lambda: the flow owns the lambda, so captures by value live
  auto limit = 7;
  auto gen = mt::data::from_generator([limit](mt::Pass) -> mt::Generator<mt::Datapoint> {
    for (int i = 0; i < limit; ++i) co_yield {float(i), i};
  });
  auto idx = mt::data::from_index(50, [](int64_t i, mt::Rng&) { return mt::Datapoint{float(i)}; });
  mt::DataFlowRef squares = Squares();
  auto pipe = squares.shuffle()
                  .map([](mt::Datapoint dp) {
                    dp[0] = dp[0].data<float>()[0] / 255.f;
                    return dp;
                  })
                  .map([](mt::Datapoint dp) -> std::optional<mt::Datapoint> {
                    if (dp[1].scalar<int64_t>() == 3) return std::nullopt;
                    return dp;
                  })
                  .filter([](const mt::Datapoint& dp) { return dp.size() == 2; })
                  .map_component(0,
                                 [](mt::HostTensor x) {
                                   x.mutable_data<float>()[0] *= 2;
                                   return x;
                                 })
                  .parallel_map([](mt::Datapoint dp) { return dp; }, {.threads = 4})
                  .batch(8)
                  .prefetch();
  mt::DataFlowRef lines = Lines({"a", "bb", ""});
  int n = count(gen) + count(idx) + count(pipe) + count(Counter());
  try {
    n += count(lines);
  } catch (const std::exception& e) {
    std::printf("caught: %s\n", e.what());
  }
  auto replay = mt::make<Replay>();
  mt::TrainConfig config{.model = Mean(),
                         .dataflow = mt::DataFlowRef(replay).batch(4),
                         .callbacks = {replay},
                         .steps_per_epoch = 200,
                         .max_epoch = 1};
  mt::SimpleTrainer trainer;
  const int rc = mt::launch_train_with_config(config, trainer);
  const bool has_learned = trainer.sess().get("mean").at(0) > 0.9 && replay->size_of_memory() == 201;
  auto both = mt::data::join({gen, mt::DataFlowRef(Counter())});
  auto keyed = mt::Datapoint().set("image", mt::HostTensor({2, 2}, mt::u8)).set("label", 3);
  std::printf("%d %zu\n", n, keyed.size());
  return n == 7 + 50 + 11 + 5 && has_learned && count(both) == 5 ? rc : 1;
}
