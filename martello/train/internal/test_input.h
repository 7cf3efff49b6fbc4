#pragma once
#include <martello/data/sources.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/reduce.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

#include <cstdio>
#include <vector>

// Trainings that remember which datapoints they took.
namespace martello::testing {

inline const std::vector<TensorSpec> kNumberSignature = {{{}, f32, "x"}};

// 0, 1, 2 ... as f32 scalars.
inline DataFlowRef numbers(int64_t count) {
  return data::from_index(count, [](int64_t i, Rng&) { return Datapoint(static_cast<float>(i)); });
}
// The same without size and random access.
inline DataFlowRef generated_numbers(int64_t count) {
  return data::from_generator([count](Pass) -> Generator<Datapoint> {
    for (int64_t i = 0; i < count; ++i) co_yield Datapoint(static_cast<float>(i));
  });
}

inline Tensor number_cost(Tensor x) {
  const auto w = get_variable("w", {.initializer = zeros()});
  return reduce_sum(x * w, {}, "cost");
}

// A mode of several towers that share their variables.
class SumMode : public ParallelMode {
 public:
  explicit SumMode(int towers) : num_towers_(towers) {}
  std::vector<TowerSpec> towers() const override {
    std::vector<TowerSpec> list;
    for (int i = 0; i < num_towers_; ++i) list.push_back({.name = str("tower", i), .device = str("cpu:", i)});
    return list;
  }
  Operation apply(const std::vector<GradVars>& by_tower, Optimizer& optimizer, Name name) override {
    GradVars sum = by_tower[0];
    for (size_t t = 1; t < by_tower.size(); ++t)
      for (size_t i = 0; i < sum.size(); ++i) sum[i].grad = sum[i].grad + by_tower[t][i].grad;
    return optimizer.apply_gradients(sum, name);
  }

 private:
  int num_towers_;
};

// Takes down what every tower was given, step by step.
class Seen : public Callback {
 public:
  explicit Seen(std::vector<float>& values, std::vector<std::string> inputs = {"x"})
      : values_(values), names_(std::move(inputs)) {}
  void setup_graph() override {
    for (const std::string& n : names_) inputs_.push_back(context().get_tensor(n));
  }
  void before_run(RunContext& run) override {
    for (const Tensor& t : inputs_) run.fetch(t);
  }
  void after_run(RunContext& run) override {
    for (size_t i = 0; i < inputs_.size(); ++i)
      for (const float v : run.value(static_cast<int>(i)).data<float>()) values_.push_back(v);
  }

 private:
  std::vector<float>& values_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_;
};

struct InputRun {
  TrainEnd end;
  std::vector<float> values;
  int64_t global_step = 0;
};

// Trains one tower on the source for so many steps.
inline InputRun run_on(Ref<InputSource> input, int64_t steps, TrainOptions options = {},
                       const std::vector<TensorSpec>& signature = kNumberSignature) {
  InputRun result;
  SimpleTrainer trainer;
  trainer.setup_graph(signature, std::move(input), number_cost, [] { return GradientDescent(0.01); });
  options.callbacks.push_back(Seen(result.values));
  options.steps_per_epoch = steps;
  options.max_epoch = 1;
  result.end = trainer.train(std::move(options));
  result.global_step = trainer.loop().global_step;
  return result;
}

// Of this process.
inline int thread_count() {
  int threads = 0;
  FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr && std::sscanf(line, "Threads: %d", &threads) != 1) {
  }
  std::fclose(file);
  return threads;
}

}  // namespace martello::testing
