// A trainer of one cost without ModelDesc and TrainConfig: four arguments.
#include <martello/martello.h>

namespace mt = martello;

int main() {
  const std::vector<mt::TensorSpec> signature = {{{mt::kUnknown, 784}, mt::f32, "image"},
                                                 {{mt::kUnknown}, mt::i32, "label"}};
  mt::SimpleTrainer trainer;
  double wd = 1e-4;
  trainer.setup_graph(
      signature, mt::QueueInput(mt::data::fake(signature, 200).batch(64)),
      [wd](mt::Tensor image, mt::Tensor label) {
        auto h = mt::fully_connected("fc0", image, {.units = 256, .activation = mt::relu});
        auto logits = mt::fully_connected("fc1", h, {.units = 10});
        auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cost");
        return cost + mt::regularize_cost(".*/W", mt::l2_regularizer(wd));
      },
      [] { return mt::Adam(1e-3, {.epsilon = 1e-3}); });
  // the list form
  mt::SimpleTrainer other;
  other.setup_graph(
      {{{1}, mt::f32, "x"}}, mt::FeedInput(mt::data::fake({{{1}, mt::f32, "x"}})),
      [](mt::TensorList in) { return mt::reduce_mean(mt::square(in["x"] - mt::get_variable("mean"))); },
      [] { return mt::Momentum(0.1); });
  return trainer.train_with_defaults({.steps_per_epoch = 5, .max_epoch = 1}) |
         other.train({.steps_per_epoch = 5, .max_epoch = 1});
}
