// The examples of docs/optimizers.md, each on a small problem that it has to solve.
#include <martello/martello.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mt = martello;

namespace {

// How far w is from its target after some steps.
double distance_after(int steps, const std::function<mt::Operation(mt::Tensor loss)>& minimize) {
  mt::GraphScope graph;
  auto w = mt::get_variable("fc/W", {.shape = {4}, .initializer = mt::ones()});
  auto b = mt::get_variable("fc/b", {.shape = {4}, .initializer = mt::ones()});
  auto target = mt::constant(mt::HostTensor::of<float>({2, 0, -1, 3}), "target");
  auto loss = mt::reduce_sum(mt::square(w + b - target), "loss");
  auto train = minimize(loss);
  mt::Session session;
  for (int i = 0; i < steps; ++i) session.run(train);
  return std::sqrt(session.eval(loss).at(0));
}

int failures = 0;

void show(const char* name, int steps, const std::function<mt::Operation(mt::Tensor loss)>& minimize) {
  const double distance = distance_after(steps, minimize);
  failures += !(distance < 0.3);
  std::printf("%-12s %.3f\n", name, distance);
}

void show(const char* name, const std::function<mt::Operation(mt::Tensor loss)>& minimize) {
  show(name, 400, minimize);
}

void optimizers() {
  show("sgd", [](mt::Tensor loss) {
    auto train = mt::GradientDescent(0.1).minimize(loss);
    return train;
  });
  show("momentum", [](mt::Tensor loss) {
    auto train = mt::Momentum(0.01, {.momentum = 0.9, .nesterov = true}).minimize(loss);
    return train;
  });
  show("adam", [](mt::Tensor loss) {
    auto train = mt::Adam(0.05, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8}).minimize(loss);
    return train;
  });
  show("adamw", [](mt::Tensor loss) {
    auto optimizer = mt::AdamW(0.05, {.weight_decay = 0.01, .no_decay = ".*/(b|gamma|beta)"});
    return optimizer.minimize(loss);
  });
  show("rmsprop", [](mt::Tensor loss) {
    auto train = mt::RMSProp(0.01, {.decay = 0.9, .momentum = 0.5}).minimize(loss);
    return train;
  });
  show("adagrad", [](mt::Tensor loss) {
    auto train = mt::Adagrad(0.5).minimize(loss);
    return train;
  });
  show("adadelta", [](mt::Tensor loss) {
    auto train = mt::Adadelta(10, {.rho = 0.9, .epsilon = 1e-6}).minimize(loss);
    return train;
  });
  show("lamb", [](mt::Tensor loss) {
    auto is_weight = [](const mt::Variable& v) { return v.rank() > 1; };
    auto train = mt::Lamb(0.01, {.weight_decay = 0.01, .decays = is_weight}).minimize(loss);
    return train;
  });
  show("lion", [](mt::Tensor loss) {
    auto train = mt::Lion(0.01, {.weight_decay = 0.01}).minimize(loss);
    return train;
  });
}

void rates() {
  show("variable", [](mt::Tensor loss) {
    auto rate = mt::get_scalar_var("learning_rate", 0.1);  // session.set("learning_rate", 0.01f) changes it
    return mt::GradientDescent(rate).minimize(loss);
  });
  show("schedule", [](mt::Tensor loss) {
    auto step = mt::get_global_step_var();
    auto rate = mt::warm_up(mt::cosine_decay(0.1, step, {.decay_steps = 500}), step, {.steps = 20});
    auto train = mt::advance_global_step({mt::GradientDescent(rate).minimize(loss)});
    return train;
  });
  show("schedules", [](mt::Tensor loss) {
    auto step = mt::get_global_step_var();
    auto a = mt::exponential_decay(0.1, step, {.decay_steps = 100, .decay_rate = 0.9, .staircase = true});
    auto b = mt::piecewise_constant(step, {100, 200}, {0.1, 0.05, 0.01});
    auto c = mt::polynomial_decay(0.1, step, {.decay_steps = 400, .end = 0.01, .power = 2});
    auto train = mt::advance_global_step({mt::Momentum((a + b + c) / 30).minimize(loss)});
    return train;
  });
}

class Damped : public mt::GradientProcessor {
 public:
  mt::GradVars process(mt::GradVars grads) override {
    for (mt::GradVar& g : grads) g.grad = g.grad / (1 + mt::abs(g.grad));
    return grads;
  }
  std::string name() const override { return "Damped"; }
};

void processors() {
  show("processors", [](mt::Tensor loss) {
    auto optimizer = mt::apply_grad_processors(
        mt::Momentum(0.05), {mt::GlobalNormClip(5), mt::ScaleGradient(".*/b", 0.5, false),
                             mt::MapGradient([](mt::Tensor g, mt::Variable) { return g * 0.5; }, "fc/.*")});
    return optimizer->minimize(loss);
  });
  show("inspected", 50, [](mt::Tensor loss) {
    auto optimizer = mt::apply_grad_processors(
        mt::GradientDescent(0.1),
        {mt::FilterNoneGrad(), mt::CheckGradient(), Damped(), mt::SummaryGradient("fc/.*"), mt::PrintGradient("fc/b")});
    auto grads = optimizer->compute_gradients(loss, mt::trainable_variables());
    grads.push_back({mt::Tensor(), mt::get_scalar_var("unused", 0)});  // FilterNoneGrad leaves it out
    return optimizer->apply_gradients(grads);
  });
  show("finite", [](mt::Tensor loss) {
    auto train = mt::SkipNonFinite(mt::Adam(0.05)).minimize(loss);
    return train;
  });
}

class ScaledLoss : public mt::ProxyOptimizer {
 public:
  ScaledLoss(mt::Ref<mt::Optimizer> optimizer, double scale) : ProxyOptimizer(std::move(optimizer)), scale_(scale) {}
  mt::GradVars compute_gradients(mt::Tensor cost, const std::vector<mt::Variable>& vars) override {
    mt::GradVars grads = ProxyOptimizer::compute_gradients(cost * scale_, vars);
    for (mt::GradVar& g : grads) g.grad = g.grad / scale_;
    return grads;
  }

 private:
  double scale_;
};

void wrappers() {
  show("accumulate", [](mt::Tensor loss) {
    auto train = mt::AccumGradOptimizer(mt::Adam(0.1), 4).minimize(loss);
    return train;
  });
  show("clipped", [](mt::Tensor loss) {
    auto clip = [](mt::Variable v) { return mt::maximum(v, -5.0); };
    auto train = mt::VariableAssignmentOptimizer(mt::Adam(0.05), clip).minimize(loss);
    return train;
  });
  show("measured", [](mt::Tensor loss) {
    auto length = mt::get_scalar_var("length", 0);
    auto measure = [length](mt::Variable v) {
      if (v.handle().name() != "fc/W") return mt::Operation();  // nothing to run
      return mt::assign(length, mt::sqrt(mt::reduce_sum(mt::square(v))));
    };
    auto train = mt::PostProcessOptimizer(mt::Adam(0.05), measure).minimize(loss);
    return train;
  });
  show("scaled", [](mt::Tensor loss) {
    auto train = ScaledLoss(mt::GradientDescent(0.1), 1024).minimize(loss);
    return train;
  });
  show("averaged", [](mt::Tensor loss) {
    auto average = mt::MovingAverage(0.99, mt::trainable_variables());
    auto train = average.update_after(mt::Adam(0.05).minimize(loss));
    auto swap = average.swap();  // run it before and after an evaluation
    return swap.is_null() ? swap : train;
  });
}

}  // namespace

int main() {
  optimizers();
  rates();
  processors();
  wrappers();
  return failures;
}
