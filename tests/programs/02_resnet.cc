// ResNet-8 for CIFAR: batch norm, nested ArgScope, residual blocks.
#include <martello/martello.h>
#include <cmath>
#include <cstdio>
namespace mt = martello;
struct ResNet : mt::ModelDesc {
  int n = 3;
  explicit ResNet(int blocks) : n(blocks) {}
  std::vector<mt::TensorSpec> inputs() const override {
    return {{{mt::kUnknown, 32, 32, 3}, mt::f32, "image"}, {{mt::kUnknown}, mt::i32, "label"}};
  }
  static mt::Tensor block(mt::Tensor x, const std::string& name, int filters, int stride) {
    mt::VariableScope vs(name);
    mt::NameScope ns(name);
    auto shortcut = x;
    if (stride != 1) shortcut = mt::pad_channels(mt::avg_pooling("pool", x, {.size = 2}), filters / 4, filters / 4);
    auto y = mt::conv2d("conv1", x, {.filters = filters, .stride = stride, .activation = mt::bn_relu});
    y = mt::conv2d("conv2", y, {.filters = filters, .activation = mt::identity});  // overrides the scope: no activation
    y = mt::batch_norm("bn2", y, {.gamma_init = mt::zeros()});
    return mt::relu(y + shortcut);
  }
  mt::Tensor build_graph(mt::TensorList in) const override {
    auto [image, label] = in.unpack<2>();
    mt::ArgScope outer(mt::Conv2D{.kernel = 3, .use_bias = false, .kernel_init = mt::truncated_normal(0.02)},
                       mt::BatchNorm{.momentum = 0.95});
    mt::Tensor x;
    {
      mt::ArgScope inner(mt::Conv2D{.activation = mt::bn_relu});
      x = mt::conv2d("conv0", image / 128.f - 1, {.filters = 16});
    }
    for (int stage = 0; stage < 3; ++stage)
      for (int i = 0; i < n; ++i)
        x = block(x, "res" + std::to_string(stage) + "." + std::to_string(i), 16 << stage, stage > 0 && i == 0 ? 2 : 1);
    auto logits = mt::LinearWrap(x)
                      .global_avg_pooling("gap")
                      .fully_connected("fc", {.units = 10})
                      .apply([](mt::Tensor t) { return mt::identity(t, "logits"); })
                      .tensor();
    mt::softmax(logits, "prob");
    auto cost = mt::reduce_mean(mt::sparse_softmax_cross_entropy(logits, label), "cross_entropy_loss");
    mt::add_moving_summary(cost);
    if (!training()) return cost;
    return cost + mt::regularize_cost(".*/W", mt::l2_regularizer(2e-4));
  }
  mt::Ref<mt::Optimizer> optimizer() const override {
    auto opt = mt::Momentum(mt::get_scalar_var("learning_rate", 0.1), {.momentum = 0.9, .nesterov = true});
    return mt::apply_grad_processors(
        std::move(opt),
        {mt::GlobalNormClip(5), mt::MapGradient([](mt::Tensor g, mt::Variable) { return g * 0.5; }, "fc/.*")});
  }
};
static void check_end(mt::TrainContext& context) {
  const double rate = context.sess().get("learning_rate").at(0);
  if (std::abs(rate - 0.01) > 1e-9) throw mt::Error(mt::str("learning_rate is ", rate));
  if (context.sess().get("conv0/bn/mean/EMA").at(0) == 0) throw mt::Error("conv0/bn/mean/EMA is still 0");
  int64_t parameters = 0;
  for (const mt::Variable& v : mt::trainable_variables()) parameters += v.shape().num_elements();
  if (parameters != 75290) throw mt::Error(mt::str("there are ", parameters, " parameters"));
}
int main() {
  mt::logger::auto_set_dir();
  mt::TrainConfig config;
  config.model = ResNet(1);
  config.dataflow = mt::data::fake(config.model->inputs()).batch(8);
  config.callbacks = {mt::ScheduledHyperParamSetter("learning_rate", {{1, 0.01}, {82, 0.001}}),
                      mt::ModelSaver({.max_to_keep = 3}),
                      mt::CallbackFactory({.after_train = [](mt::TrainContext& c) { check_end(c); }})};
  config.callbacks.push_back(mt::EstimatedTimeLeft());
  config.steps_per_epoch = 5;
  config.max_epoch = 2;
  mt::GraphScope g;
  int rc = mt::launch_train_with_config(config, mt::SimpleTrainer());
  const bool is_built = g.graph().get_tensor("res1.0/conv1/W").shape() == mt::Shape(3, 3, 16, 32) &&
                        g.graph().find_tensor("res0.0/bn2/gamma").has_value();
  return is_built ? rc : 1;
}
