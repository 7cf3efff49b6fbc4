// The examples of docs/layers.md, each run once.
#include <martello/martello.h>

#include <cstdio>

namespace mt = martello;

namespace {

mt::Tensor conv2d_example(mt::Tensor image) {
  auto y = mt::conv2d("conv1", image, {.filters = 8, .kernel = 3, .stride = 2, .activation = mt::relu});
  mt::Variable kernel = y.variables()["W"];  // conv1/W [3, 3, 3, 8]
  return y + mt::reduce_mean(kernel);
}

mt::Tensor conv2d_transpose_example(mt::Tensor image) {
  return mt::conv2d_transpose("deconv1", image, {.filters = 3, .kernel = 4, .stride = 2, .activation = mt::tanh});
}

mt::Tensor depth_conv_example(mt::Tensor image) {
  return mt::depth_conv("depth1", image, {.filters = 6, .activation = mt::bn_relu});  // two filters per channel
}

mt::Tensor fully_connected_example(mt::Tensor image) {
  return mt::fully_connected("fc", image, {.units = 10, .kernel_init = mt::truncated_normal(0.02)});
}

mt::Tensor pooling_example(mt::Tensor image) {
  auto y = mt::max_pooling("pool0", image, {.size = 3, .stride = 2, .padding = mt::Pad::same});
  y = mt::avg_pooling("pool1", y, {.size = 2});
  y = mt::fixed_unpooling("unpool", y, {.size = 2});
  return mt::global_avg_pooling("gap", y);
}

mt::Tensor batch_norm_example(mt::Tensor image) {
  auto y = mt::batch_norm("bn", image, {.momentum = 0.95});
  auto frozen = mt::batch_norm("frozen", y, {.training = false});  // normalizes with the averages, also in training
  auto ghost = mt::batch_norm("ghost", frozen, {.virtual_batch_size = 2});
  return mt::batch_norm("sync", ghost, {.ema_update = mt::EmaUpdate::internal, .sync_statistics = true});
}

mt::Tensor batch_renorm_example(mt::Tensor image) { return mt::batch_renorm("brn", image, {.rmax = 3, .dmax = 5}); }

mt::Tensor norms_example(mt::Tensor image) {
  auto y = mt::layer_norm("ln", image);
  y = mt::instance_norm("in", y);
  return mt::group_norm("gn", y, {.groups = 3});
}

mt::Tensor activations_example(mt::Tensor image) {
  auto y = mt::bn_relu("pre", image);  // pre/bn/gamma ...
  y = mt::prelu("prelu", y, {.init = 0.25});
  return mt::maxout("maxout", y, {.units = 3});
}

mt::Tensor dropout_example(mt::Tensor image) {
  return mt::dropout("drop", image, {.rate = 0.25});  // drops in a training tower only
}

mt::Tensor concat_with_example(mt::Tensor image) { return mt::concat_with("cat", image, {image * 2, -image}, 3); }

mt::Tensor blocks_example(mt::Tensor image) {
  auto y = mt::residual_basic("block0", image, {.filters = 8, .stride = 2});
  y = mt::residual_bottleneck("block1", y, {.filters = 4, .squeeze_ratio = 4});
  y = mt::residual_basic("block2", y, {.filters = 16, .order = mt::ResidualOrder::pre});
  return mt::channel_shuffle(mt::squeeze_excite("se", y, {.ratio = 8}), 4);
}

mt::Tensor lstm_example(mt::Tensor image) {
  auto rows = mt::reshape(image, {-1, 8, 24});  // eight steps of 24 numbers
  auto [y, states] = mt::lstm("lstm", rows, {.units = 16, .layers = 2, .dropout = 0.1});
  return mt::fully_connected("out", states[1].h, {.units = 4});
}

mt::Tensor arg_scope_example(mt::Tensor image) {
  mt::ArgScope scope(mt::Conv2D{.kernel = 3, .activation = mt::bn_relu, .use_bias = false},
                     mt::BatchNorm{.momentum = 0.95});
  auto x = mt::conv2d("conv0", image, {.filters = 8});
  return mt::conv2d("conv1", x, {.filters = 8, .activation = mt::identity});  // the call wins: no activation
}

mt::Tensor linear_wrap_example(mt::Tensor image) {
  return mt::LinearWrap(image)
      .conv2d("conv0", {.filters = 8, .activation = mt::relu})
      .max_pooling("pool0")
      .apply([](mt::Tensor t) { return t * 2; })
      .fully_connected("fc", {.units = 10})
      .tensor();
}

struct Scaled {
  mt::Opt<double> start = mt::unset(1.0);
  static void fields(auto&& f, auto&... self) { f("start", self.start...); }
};
mt::LayerOutput scaled(std::string_view name, mt::Tensor x, Scaled options = {},
                       mt::SourceLine line = mt::SourceLine::current()) {
  options = mt::with_arg_scope(std::move(options));
  return mt::build_layer({.type = "scaled", .name = name, .input = x, .line = line}, [&](mt::LayerScope& layer) {
    return x * layer.variable("scale", {.shape = {}, .initializer = mt::constant_init(*options.start)});
  });
}

mt::Tensor own_layer_example(mt::Tensor image) {
  return scaled("scaled", image, {.start = 2});  // variable scaled/scale, result scaled/output
}

mt::Tensor regularize_example(mt::Tensor image) {
  auto cost = mt::reduce_mean(mt::fully_connected("fc", image, {.units = 1}));
  return mt::add_n({cost, mt::regularize_cost("fc.*/W", mt::l2_regularizer(1e-4))}, "total_cost");
}

mt::Tensor regularizer_option_example(mt::Tensor image) {
  mt::ArgScope scope(mt::FullyConnected{.kernel_regularizer = mt::l1_regularizer(1e-4)});
  auto cost = mt::reduce_mean(mt::fully_connected("fc", image, {.units = 1}));
  return cost + mt::regularize_cost_from_collection();
}

mt::Tensor freeze_example(mt::Tensor image) {
  mt::Tensor features;
  {
    mt::FreezeVariables frozen;
    features = mt::conv2d("backbone", image, {.filters = 4});
  }
  return mt::fully_connected("head", features, {.units = 2});
}

mt::Tensor remap_example(mt::Tensor image) {
  mt::RemapVariables binary([](mt::Variable v) { return v + mt::stop_gradient(mt::sign(v) - v); });
  return mt::fully_connected("fc", image, {.units = 2});  // -1, 0 and 1 in use; fc/W is what is trained
}

mt::Tensor reuse_example(mt::Tensor image) {
  auto critic = mt::auto_reuse([](mt::Tensor x) { return mt::fully_connected("critic", x, {.units = 1}); });
  return critic(image) - critic(image * 0.5);  // one critic/W
}

mt::Tensor recompute_example(mt::Tensor image) {
  auto x = mt::fully_connected("fc0", image, {.units = 32});
  {
    mt::RecomputeScope again;  // fc0/output stays, the two results below do not
    x = mt::dropout("drop", mt::gelu(x), {.rate = 0.1});
  }
  return mt::fully_connected("fc1", x, {.units = 10});
}

mt::Tensor zoo_example(mt::Tensor image) { return mt::zoo::cifar_resnet(image, {.depth = 8}); }

struct Example {
  const char* name;
  mt::Tensor (*build)(mt::Tensor);
};

void run(const Example& example, bool is_training) {
  mt::GraphScope graph;
  mt::TowerContext tower("", is_training);
  const auto y = example.build(mt::placeholder({mt::kUnknown, 8, 8, 3}, mt::f32, "image"));
  mt::Session session;
  const auto value = session.eval(y, {{"image", mt::HostTensor::full({4, 8, 8, 3}, mt::f32, 0.5)}});
  std::printf("%s: %s\n", example.name, value.shape().str().c_str());
}

}  // namespace

int main() {
  mt::disable_layer_logging();
  const Example examples[] = {{"conv2d", conv2d_example},
                              {"conv2d_transpose", conv2d_transpose_example},
                              {"depth_conv", depth_conv_example},
                              {"fully_connected", fully_connected_example},
                              {"pooling", pooling_example},
                              {"batch_norm", batch_norm_example},
                              {"batch_renorm", batch_renorm_example},
                              {"norms", norms_example},
                              {"activations", activations_example},
                              {"dropout", dropout_example},
                              {"concat_with", concat_with_example},
                              {"blocks", blocks_example},
                              {"lstm", lstm_example},
                              {"arg_scope", arg_scope_example},
                              {"linear_wrap", linear_wrap_example},
                              {"own_layer", own_layer_example},
                              {"regularize", regularize_example},
                              {"regularizer_option", regularizer_option_example},
                              {"freeze", freeze_example},
                              {"remap", remap_example},
                              {"reuse", reuse_example},
                              {"recompute", recompute_example},
                              {"zoo", zoo_example}};
  for (const Example& example : examples)
    for (bool is_training : {true, false}) run(example, is_training);
}
