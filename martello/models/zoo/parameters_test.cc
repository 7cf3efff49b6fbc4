#include <martello/graph/core_ops.h>
#include <martello/models/layer.h>
#include <martello/models/zoo/convnet.h>
#include <martello/models/zoo/dcgan.h>
#include <martello/models/zoo/gpt.h>
#include <martello/models/zoo/lstm_language_model.h>
#include <martello/models/zoo/resnet.h>
#include <martello/models/zoo/vgg.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello::zoo {
namespace {

struct Count {
  int64_t trainable = 0;
  Shape output = {};
};

Count count(Shape shape, DType dtype, const std::function<Tensor(Tensor)>& network) {
  GraphScope g;
  TowerContext tower("", true);
  const Tensor y = network(placeholder(std::move(shape), dtype, "input"));
  Count c{0, y.shape().without_symbols()};
  for (const Variable& v : trainable_variables()) c.trainable += v.shape().num_elements();
  return c;
}

Count count_images(Shape shape, const std::function<Tensor(Tensor)>& network) {
  return count(std::move(shape), f32, network);
}

TEST(Parameters, convnet) {
  const Count c = count_images({kUnknown, 28, 28, 1}, [](Tensor x) { return convnet(x); });
  EXPECT_EQ(c.trainable, 320 + 3 * 9248 + (7 * 7 * 32 + 1) * 512 + 513 * 10);
  EXPECT_EQ(c.output.str(), "[?, 10]");
}

TEST(Parameters, vgg) {
  const auto trainable = [](VggOptions o) {
    return count_images({kUnknown, 224, 224, 3}, [o](Tensor x) { return vgg(x, o); }).trainable;
  };
  EXPECT_EQ(trainable({.depth = 16}), 138357544);
  EXPECT_EQ(trainable({.depth = 11}), 132863336);
  EXPECT_EQ(trainable({.depth = 13}), 133047848);
  EXPECT_EQ(trainable({.depth = 19}), 143667240);
  EXPECT_EQ(trainable({.depth = 11, .use_batch_norm = true}), 132868840);
  EXPECT_EQ(trainable({.depth = 16, .use_batch_norm = true}), 138365992);
}

int64_t trainable_of_resnet(const ResNetOptions& o) {
  const Count c = count_images({kUnknown, 224, 224, 3}, [o](Tensor x) { return resnet(x, o); });
  EXPECT_EQ(c.output.str(), "[?, 1000]");
  return c.trainable;
}

TEST(Parameters, resnet) {
  EXPECT_EQ(trainable_of_resnet({.depth = 18}), 11689512);
  EXPECT_EQ(trainable_of_resnet({.depth = 34}), 21797672);
  EXPECT_EQ(trainable_of_resnet({.depth = 50}), 25557032);
  EXPECT_EQ(trainable_of_resnet({.depth = 101}), 44549160);
  EXPECT_EQ(trainable_of_resnet({.depth = 152}), 60192808);
}

TEST(Parameters, resnet_with_squeeze_and_excite) {
  EXPECT_EQ(trainable_of_resnet({.depth = 18, .squeeze_ratio = 16}), 11778592);
  EXPECT_EQ(trainable_of_resnet({.depth = 50, .squeeze_ratio = 16}), 28088024);
}

// As many as in order `post` but for the norms of the shortcuts.
TEST(Parameters, resnet_that_normalizes_first) {
  const auto trainable = [](int depth) { return trainable_of_resnet({.depth = depth, .order = ResidualOrder::pre}); };
  EXPECT_EQ(trainable(18), 11689512 - 2 * (128 + 256 + 512));
  EXPECT_EQ(trainable(34), 21795880);
  EXPECT_EQ(trainable(50), 25557032 - 2 * (256 + 512 + 1024 + 2048));
  EXPECT_EQ(trainable(101), 44541480);
  EXPECT_EQ(trainable(152), 60185128);
}

TEST(Parameters, cifar_resnet) {
  const auto trainable = [](const CifarResNetOptions& o) {
    return count_images({kUnknown, 32, 32, 3}, [o](Tensor x) { return cifar_resnet(x, o); }).trainable;
  };
  EXPECT_EQ(trainable({.depth = 20}), 269722);
  EXPECT_EQ(trainable({.depth = 32}), 464154);
  EXPECT_EQ(trainable({.depth = 56}), 853018);
  EXPECT_EQ(trainable({.depth = 32, .order = ResidualOrder::pre}), 464154);  // its shortcuts have no variables
  EXPECT_EQ(trainable({.depth = 20, .squeeze_ratio = 16}), 272095);
}

TEST(Parameters, dcgan) {
  const auto wide = [](int64_t in, int64_t out) { return 16 * in * out + out; };
  const Count g = count_images({kUnknown, 100}, [](Tensor z) { return dcgan_generator(z); });
  EXPECT_EQ(g.trainable, 101 * 16 * 512 + wide(512, 256) + wide(256, 128) + wide(128, 64) + wide(64, 3) +
                             2 * (512 + 256 + 128 + 64));
  EXPECT_EQ(g.output.str(), "[?, 64, 64, 3]");
  const Count d = count_images({kUnknown, 64, 64, 3}, [](Tensor x) {
    dcgan_discriminator(x);
    return dcgan_discriminator(x);
  });
  EXPECT_EQ(d.trainable,
            wide(3, 64) + wide(64, 128) + wide(128, 256) + wide(256, 512) + 2 * (128 + 256 + 512) + 16 * 512 + 1);
  EXPECT_EQ(d.output.str(), "[?, 1]");
}

TEST(Parameters, lstm_language_model) {
  const Count c = count({20, 35}, i32, [](Tensor t) { return lstm_language_model(t, {.dropout = 0.5}).logits; });
  EXPECT_EQ(c.trainable, 4651600);
  EXPECT_EQ(c.output, Shape(20, 35, 10000));
}

TEST(Parameters, gpt) {
  const Count c = count({kUnknown, 1024}, i32, [](Tensor t) { return gpt(t); });
  EXPECT_EQ(c.trainable, 124439808);
  EXPECT_EQ(c.output.str(), "[?, 1024, 50257]");
}

using martello::testing::expect_refused;
Tensor image() { return placeholder({1, 32, 32, 3}, f32, "x"); }

TEST(Zoo, refuses_what_does_not_exist) {
  const auto refuse = [](const std::function<void()>& f, const std::vector<std::string>& parts) {
    expect_refused(
        [&] {
          TowerContext tower("", true);
          f();
        },
        parts, __FILE__);
  };
  refuse([] { vgg(image(), {.depth = 12}); }, {"[vgg]", "depth 12"});
  refuse([] { resnet(image(), {.depth = 20}); }, {"[resnet]", "depth 20"});
  refuse([] { cifar_resnet(image(), {.depth = 21}); }, {"[cifar_resnet]", "depth is 21"});
  refuse([] { dcgan_generator(placeholder({1, 10}, f32, "z"), {.image_size = 48}); }, {"image_size is 48"});
  refuse([] { gpt(placeholder({1, 20}, i32, "t"), {.context = 10}); }, {"[gpt]", "20 steps", "context of 10"});
  refuse([] { gpt(placeholder({1, 20}, i32, "t"), {.heads = 5}); }, {"[gpt] 5 heads", "768"});
  refuse([] { lstm_language_model(placeholder({20}, i32, "t")); }, {"[lstm_language_model]", "[rows, steps]"});
}

}  // namespace
}  // namespace martello::zoo
