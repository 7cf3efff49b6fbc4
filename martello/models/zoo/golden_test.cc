// Networks with made-up weights against the numbers of another framework. The files and the program that wrote them are
// in tests/golden; weights here and there come from the names of variables.
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/models/internal/golden.h>
#include <martello/models/zoo/convnet.h>
#include <martello/models/zoo/dcgan.h>
#include <martello/models/zoo/gpt.h>
#include <martello/models/zoo/lstm_language_model.h>
#include <martello/models/zoo/resnet.h>
#include <martello/models/zoo/vgg.h>
#include <martello/ops/reduce.h>
#include <martello/ops/sparse_softmax_cross_entropy.h>
#include <martello/ops/transpose.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello::zoo {
namespace {

void expect_golden(const std::string& name, Tensor y, const HostTensor& input, double tolerance) {
  Session session;
  for (const Variable& v : global_variables()) {
    const std::string& variable = v.handle().name();
    session.set(v.handle(), internal::golden_weight(variable, v.shape(), v.dtype()));
  }
  const HostTensor actual = session.eval(y, {{"input", input}});
  const std::vector<double> expected = internal::read_golden(MARTELLO_GOLDEN, name);
  ASSERT_EQ(actual.num_elements(), static_cast<int64_t>(expected.size()));
  double largest = 0;
  for (double v : expected) largest = std::max(largest, std::abs(v));
  for (int64_t i = 0; i < actual.num_elements(); ++i)
    ASSERT_NEAR(actual.at(i), expected[static_cast<size_t>(i)], tolerance * largest) << i;
}

using Network = std::function<Tensor(Tensor)>;

// In f64, where any difference in architecture or formula shows, and as people use it.
void expect_image_golden(const std::string& name, const Shape& shape, const Network& network) {
  for (DType dtype : {f64, f32}) {
    SCOPED_TRACE(str(dtype));
    GraphScope g;
    TowerContext tower("", false);
    const Tensor y = network(placeholder(shape, dtype, "input"));
    expect_golden(name, y, internal::golden_image(shape, dtype), dtype == f64 ? 1e-8 : 2e-4);
  }
}

void expect_token_golden(const std::string& name, const Shape& shape, int vocabulary, const Network& network) {
  GraphScope g;
  TowerContext tower("", false);
  HostTensor tokens(shape, i32);
  for (int64_t i = 0; i < tokens.num_elements(); ++i)
    tokens.set(i, std::floor((internal::golden_noise(internal::golden_seed("tokens"), i) + 1) * 0.5 * vocabulary));
  expect_golden(name, network(placeholder(shape, i32, "input")), tokens, 2e-5);
}

TEST(Golden, convnet) {
  expect_image_golden("convnet", {2, 12, 12, 1}, [](Tensor x) { return convnet(x, {.filters = 8}); });
}

TEST(Golden, vgg) {
  const auto check = [](const char* name, VggOptions o) {
    o.classes = 7;
    o.dense_units = 64;
    expect_image_golden(name, {1, 32, 32, 3}, [o](Tensor x) { return vgg(x, o); });
  };
  check("vgg11", {.depth = 11});
  check("vgg11_bn", {.depth = 11, .use_batch_norm = true});
  check("vgg13", {.depth = 13});
  check("vgg16", {.depth = 16});
  check("vgg19", {.depth = 19});
}

TEST(Golden, resnet) {
  const auto check = [](const char* name, ResNetOptions o) {
    o.classes = 10;
    o.filters = 16;
    expect_image_golden(name, {1, 48, 64, 3}, [o](Tensor x) { return resnet(x, o); });
  };
  check("resnet18", {.depth = 18});
  check("resnet18_se", {.depth = 18, .squeeze_ratio = 4});
  check("resnet34", {.depth = 34});
  check("resnet34_pre", {.depth = 34, .order = ResidualOrder::pre});
  check("resnet50", {.depth = 50});
  check("resnet50_se", {.depth = 50, .squeeze_ratio = 4});
  check("resnet50_pre", {.depth = 50, .order = ResidualOrder::pre});
  check("resnet101", {.depth = 101});
  check("resnet152", {.depth = 152});
}

TEST(Golden, resnet_of_channels_first) {
  expect_image_golden("resnet50_se", {1, 48, 64, 3}, [](Tensor x) {
    return resnet(transpose(x, {0, 3, 1, 2}),
                  {.depth = 50, .classes = 10, .squeeze_ratio = 4, .filters = 16, .data_format = DataFormat::nchw});
  });
}

TEST(Golden, cifar_resnet) {
  const auto check = [](const char* name, const CifarResNetOptions& o) {
    expect_image_golden(name, {2, 16, 16, 3}, [o](Tensor x) { return cifar_resnet(x, o); });
  };
  check("cifar_resnet20", {});
  check("cifar_resnet20_se", {.squeeze_ratio = 4});
  check("cifar_resnet32", {.depth = 32});
  check("cifar_resnet32_pre", {.depth = 32, .order = ResidualOrder::pre});
  check("cifar_resnet56", {.depth = 56});
}

// Forward, backward and momentum: a wrong gradient anywhere shows in the second loss.
TEST(Golden, training_of_a_cifar_resnet) {
  GraphScope g;
  TowerContext tower("", true);
  const Shape shape(2, 16, 16, 3);
  const Tensor logits = cifar_resnet(placeholder(shape, f64, "input"));
  const Tensor labels = constant(HostTensor::of<int32_t>({3, 7}));
  const Tensor loss = reduce_mean(sparse_softmax_cross_entropy(logits, labels));
  const Operation train = Momentum(0.01).minimize(loss);
  Session session;
  for (const Variable& v : trainable_variables())
    session.set(v.handle(), internal::golden_weight(v.handle().name(), v.shape(), f64));
  const std::vector<double> expected = internal::read_golden(MARTELLO_GOLDEN, "cifar_resnet20_losses");
  ASSERT_EQ(expected.size(), 5u);
  const Feeds feeds = {{"input", internal::golden_image(shape, f64)}};
  for (double value : expected) EXPECT_NEAR(session.run({loss, train}, feeds)[0].at(0), value, 1e-7);
}

TEST(Golden, dcgan) {
  const DcganOptions o{.filters = 8, .image_size = 16};
  expect_image_golden("dcgan_generator", {2, 10}, [o](Tensor z) { return dcgan_generator(z, o); });
  expect_image_golden("dcgan_discriminator", {2, 16, 16, 3}, [o](Tensor x) { return dcgan_discriminator(x, o); });
}

TEST(Golden, lstm_language_model) {
  expect_token_golden("lstm_language_model", {2, 5}, 11,
                      [](Tensor tokens) { return lstm_language_model(tokens, {.vocabulary = 11, .units = 6}).logits; });
}

TEST(Golden, gpt) {
  expect_token_golden("gpt", {2, 7}, 13, [](Tensor tokens) {
    return gpt(tokens, {.vocabulary = 13, .context = 9, .width = 12, .layers = 2, .heads = 3});
  });
}

}  // namespace
}  // namespace martello::zoo
