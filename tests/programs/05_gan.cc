// A GAN as a model of two costs, and the low-level way: a TowerTrainer of one's own.
#include <martello/martello.h>

namespace mt = martello;

struct DCGAN : mt::MultiCostModel {
  int batch = 8, zdim = 16;
  std::vector<mt::TensorSpec> inputs() const override { return {{{batch, 28, 28, 1}, mt::f32, "image"}}; }
  mt::Tensor generator(mt::Tensor z) const {
    mt::VariableScope scope("gen");
    auto x = mt::fully_connected("fc0", z, {.units = 7 * 7 * 16, .activation = mt::bn_relu});
    return mt::LinearWrap(mt::reshape(x, {-1, 7, 7, 16}))
        .conv2d_transpose("deconv1", {.filters = 8, .kernel = 4, .stride = 2, .activation = mt::bn_relu})
        .conv2d_transpose("deconv2", {.filters = 1, .kernel = 4, .stride = 2, .activation = mt::tanh})
        .tensor();
  }
  mt::Tensor discriminator(mt::Tensor x) const {
    mt::VariableScope scope("discrim", mt::Reuse::automatic);
    mt::ArgScope args(
        mt::Conv2D{.kernel = 4, .stride = 2, .activation = [](mt::Tensor t) { return mt::leaky_relu(t, 0.2); }});
    return mt::LinearWrap(x)
        .conv2d("conv0", {.filters = 8})
        .conv2d("conv1", {.filters = 16})
        .fully_connected("fc", {.units = 1})
        .tensor();
  }
  mt::Costs build_graph(mt::TensorList in) const override {
    auto z = mt::random_uniform({batch, zdim}, {.low = -1, .high = 1}, "z");
    auto fake = generator(z);
    auto real_logit = discriminator(in[0] * 2 - 1), fake_logit = discriminator(fake);
    auto g_loss = mt::reduce_mean(mt::sigmoid_cross_entropy(fake_logit, 1), "g_loss");
    auto d_loss = mt::multiply(mt::reduce_mean(mt::sigmoid_cross_entropy(real_logit, 1)) +
                                   mt::reduce_mean(mt::sigmoid_cross_entropy(fake_logit, 0)),
                               0.5, "d_loss");
    mt::add_moving_summary({g_loss, d_loss});
    return {{"gen", g_loss}, {"discrim", d_loss}};
  }
  std::vector<mt::CostSpec> costs() const override {
    return {{.name = "gen", .variables = "gen/", .optimizer = [] { return mt::Adam(2e-4, {.beta1 = 0.5}); }},
            {.name = "discrim",
             .variables = "discrim/",
             .optimizer = [] { return mt::Adam(2e-4, {.beta1 = 0.5}); },
             .every = 1}};
  }
};

class GANTrainer : public mt::TowerTrainer {
 public:
  GANTrainer(mt::Ref<mt::InputSource> input, const DCGAN& model) {
    mt::GraphScope graph_scope(graph());
    input->setup(model.inputs());
    register_callbacks(input->get_callbacks());
    mt::Costs costs;
    {
      mt::TowerContext tower("", true);
      costs = model.build_graph(input->get_input_tensors());
    }
    mt::NameScope scope("optimize");
    auto opt = mt::Adam(2e-4);
    auto g = opt.minimize(costs[0].value, mt::trainable_variables("gen/"), "g_min");
    mt::ControlDependencies after({g});
    train_op = opt.minimize(costs[1].value, mt::trainable_variables("discrim/"), "d_min");
  }
};

static mt::Ref<mt::InputSource> images() {
  return mt::QueueInput(mt::data::fake({{{mt::kUnknown, 28, 28, 1}, mt::f32, "image"}}).batch(8));
}

int main() {
  mt::MultiCostTrainer one;
  mt::MultiCostTrainer wgan(mt::OneTower(), mt::Updates::separate_runs);
  one.setup_graph(DCGAN(), images());
  wgan.setup_graph(DCGAN(), images());
  int rc = one.train_with_defaults({.steps_per_epoch = 3, .max_epoch = 1});
  rc |= wgan.train({.steps_per_epoch = 3, .max_epoch = 1});
  rc |= GANTrainer(images(), DCGAN()).train_with_defaults({.steps_per_epoch = 3, .max_epoch = 1});
  return wgan.loop().global_step == 6 ? rc : 1;
}
