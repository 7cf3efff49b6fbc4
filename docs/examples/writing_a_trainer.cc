// The examples of docs/writing-a-trainer.md.
#include <martello/martello.h>

#include <cmath>
#include <cstdio>

namespace mt = martello;

mt::TrainEnd using_a_trainer() {
  mt::GraphScope graph;
  auto x = mt::get_variable("x", {.shape = {3}, .initializer = mt::ones()});
  auto loss = mt::reduce_sum(mt::square(x), "loss");
  mt::Trainer trainer;
  trainer.train_op = mt::GradientDescent(0.1).minimize(loss);
  return trainer.train_with_defaults({.steps_per_epoch = 20, .max_epoch = 2});
}

// Finds the zero of a function by Newton's method: neither data nor an optimizer.
class Newton : public mt::Trainer {
 public:
  Newton() {
    const mt::GraphScope scope(graph());
    x_ = mt::get_variable("x", {.initializer = mt::constant_init(3), .trainable = false});
    auto f = mt::square(x_) - 2;
    step_ = mt::assign(x_, x_ - f / mt::gradients(f, x_)[0]);
    error_ = mt::abs(f, "error");
  }
  float root() { return sess().get(x_).scalar<float>(); }

 protected:
  void run_step() override {
    hooked_sess().run(step_);                                 // hooks see this run; it counts
    const float error = sess().eval(error_).scalar<float>();  // and they do not see this one
    monitors().put_scalar("error", error);
    if (error < 1e-5f) throw mt::StopTraining("found");
  }

 private:
  mt::Variable x_;
  mt::Operation step_;
  mt::Tensor error_;
};

// Two costs with one set of variables, which no trainer of the library minimizes, in turns.
class InTurns : public mt::TowerTrainer {
 public:
  explicit InTurns(mt::Ref<mt::InputSource> input) {
    const mt::GraphScope scope(graph());
    const std::vector<mt::TensorSpec> signature = {{{mt::kUnknown}, mt::f32, "x"}};
    set_tower_func(mt::TowerFunc::with_outputs(costs_of, signature));
    input->setup(signature);
    mt::TensorList costs;
    {
      const mt::TowerContext tower("", true);
      costs = tower_func()(input->get_input_tensors());
    }
    auto optimizer = mt::GradientDescent(0.25);
    first_ = optimizer.minimize(costs[0], mt::trainable_variables(), "first");
    second_ = optimizer.minimize(costs[1], mt::trainable_variables(), "second");
    register_callbacks(input->get_callbacks());
  }

 protected:
  void run_step() override { hooked_sess().run(loop().local_step % 2 == 0 ? first_ : second_); }

 private:
  static mt::TensorList costs_of(const mt::TensorList& in) {
    auto w = mt::get_variable("w", {.initializer = mt::zeros()});
    mt::multiply(in[0], w, "product");
    return {mt::reduce_mean(mt::square(w - in[0])), mt::square(w - 1)};
  }
  mt::Operation first_, second_;
};

// A trainer of costs may leave towers and gradients to a ParallelMode.
mt::TrainEnd two_costs() {
  mt::MultiCostTrainer trainer(mt::OneTower(), mt::Updates::separate_runs);
  trainer.setup_graph(
      {{{mt::kUnknown}, mt::f32, "x"}}, mt::FeedInput(mt::data::fake({{{mt::kUnknown}, mt::f32, "x"}}).batch(4)),
      [](mt::Tensor x) {
        auto a = mt::get_variable("a/mean"), b = mt::get_variable("b/mean");
        return mt::Costs{{"of_x", mt::reduce_mean(mt::square(x - a))}, {"of_a", mt::square(mt::stop_gradient(a) - b)}};
      },
      {{.name = "of_x", .variables = "a/", .optimizer = [] { return mt::Adam(0.01); }},
       {.name = "of_a", .variables = "b/", .optimizer = [] { return mt::Adam(0.01); }, .every = 2}});
  return trainer.train_with_defaults({.steps_per_epoch = 10, .max_epoch = 1});
}

int main() {
  Newton newton;
  const mt::TrainEnd end = newton.train({.steps_per_epoch = 100, .max_epoch = 1});
  bool holds = end.reason == mt::TrainEnd::stopped && std::abs(newton.root() - std::sqrt(2.f)) < 1e-4f;

  InTurns trainer(mt::FeedInput(mt::data::from_list({mt::Datapoint{mt::HostTensor::of<float>({2, 4})}})));
  const mt::OnlinePredictor product = trainer.get_predictor({"x"}, {"product"});
  holds = holds && trainer.train({.steps_per_epoch = 2, .max_epoch = 1}).is_success();
  // 0 goes halfway to 3, then halfway to 1
  holds = holds && product({mt::HostTensor::of<float>({10})})[0].at(0) == 12.5;
  return holds ? using_a_trainer() | two_costs() : 1;
}
