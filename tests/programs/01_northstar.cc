// The first training: a convnet on Fashion-MNIST, cut to a few steps.
#include <martello/martello.h>

#include <cstdio>
#include <exception>

namespace mt = martello;

struct ConvNet : mt::ModelDesc {
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 28, 28, 1}, mt::f32, "image"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    auto image = in["image"] * 2 - 1, label = in["label"];
    mt::ArgScope scope(mt::Conv2D{.filters = 32, .kernel = 3, .activation = mt::relu});
    auto logits = mt::LinearWrap(image)
                      .conv2d("conv0")
                      .max_pooling("pool0", {.size = 2})
                      .conv2d("conv1")
                      .conv2d("conv2")
                      .max_pooling("pool1", {.size = 2})
                      .conv2d("conv3")
                      .fully_connected("fc0", {.units = 512, .activation = mt::relu})
                      .dropout("drop", {.rate = 0.5})
                      .fully_connected("fc1", {.units = 10})
                      .tensor();
    mt::softmax(logits, "prob");
    auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cross_entropy_loss");
    auto error = mt::reduce_mean(mt::prediction_incorrect(logits, label, "incorrect"), "train_error");
    mt::add_moving_summary({cost, error});
    return mt::add_n({cost, mt::regularize_cost("fc.*/W", mt::l2_regularizer(1e-5))}, "total_cost");
  }
  mt::OptimizerRef optimizer() const override { return mt::Adam(mt::get_scalar_var("learning_rate", 1e-3)); }
};

// Guessing is wrong in 0.9 of all cases.
void check_what_was_learned(mt::TrainContext& context) {
  const double error = context.monitors().get_latest("validation_error");
  if (error > 0.4) throw mt::Error(mt::str("validation_error is ", error));
}

mt::TrainEnd train() {
  mt::logger::auto_set_dir();
  auto [train, test] = mt::data::fashion_mnist();
  mt::TrainConfig config{.model = ConvNet(),
                         .dataflow = train.shuffle().batch(128),
                         .callbacks = {mt::ModelSaver(),
                                       mt::InferenceRunner(test.take(1000).batch(256, {.remainder = true}),
                                                           {mt::ClassificationError("incorrect")}),
                                       mt::CallbackFactory({.after_train = check_what_was_learned})},
                         .steps_per_epoch = 40,
                         .max_epoch = 2};
  return mt::launch_train_with_config(config, mt::SimpleTrainer());
}

int main() {
  try {
    return train();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
