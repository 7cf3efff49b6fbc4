// Trainers of one's own: several runs in a step, no graph at all, a graph made outside.
#include <martello/martello.h>
namespace mt = martello;
// one hooked and one plain run in a step
class Alternating : public mt::Trainer {
 public:
  Alternating() {
    mt::GraphScope scope(graph());
    auto w = mt::get_variable("w", {.shape = {10}, .initializer = mt::zeros()});
    auto loss = mt::reduce_mean(mt::square(w - 1), "loss");
    update_ = mt::assign(w, w - mt::gradients(loss, w)[0] * 0.1);
    reset_ = mt::assign(w, 0.f);
    loss_ = loss;
  }

 protected:
  void run_step() override {
    hooked_sess().run(update_);
    if (loop().global_step % 5 == 0) sess().run(reset_);
    auto values = hooked_sess().run({update_, loss_});
    if (values[1].scalar<float>() < 1e-6f) throw mt::StopTraining("converged");
  }

 private:
  mt::Operation update_, reset_;
  mt::Tensor loss_;
};
// not gradient descent: state on the host, nothing in the graph
struct Evolution : mt::Trainer {
  std::vector<double> best = std::vector<double>(8);
  void run_step() override {
    for (auto& b : best) b += 0.1;
    hooked_sess().run({});
  }
};
int main() {
  int rc = Alternating().train_with_defaults(
      {.callbacks = {mt::ProgressBar({"loss"})}, .steps_per_epoch = 100, .max_epoch = 2});
  rc |= Evolution().train({.steps_per_epoch = 10, .max_epoch = 1});
  // graph built outside, only train_op set
  mt::GraphScope graph;
  auto x = mt::get_variable("x", {.shape = {3}});
  auto loss = mt::reduce_sum(mt::square(x), {.axes = 0, .keep_dims = false}, "loss");
  mt::Trainer trainer;
  trainer.train_op = mt::Adam(0.01).minimize(loss, {x});
  trainer.register_callback(mt::ThroughputTracker());
  rc |= trainer.train_with_defaults({.steps_per_epoch = 10, .max_epoch = 1});
  return rc;
}
