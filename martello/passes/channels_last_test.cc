#include <martello/passes/internal/pass_test.h>
#include <martello/passes/internal/run_plan.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace martello {
namespace {

using namespace testing;

const std::string kInputs = R"(
    %x = placeholder() {shape=[2, 3, 8, 6]}
    %w = placeholder() {shape=[3, 3, 3, 4]}
)";
const std::string kTurned = kInputs + R"(
    %x/channels_last = transpose(%x) {perm=[0, 2, 3, 1]}
    %y = conv2d(%x/channels_last, %w)
)";
const std::string kConv = kInputs + "%y = conv2d(%x, %w) {data_format=nchw}\n";

TEST(channels_last, turns_the_images_of_a_convolution_and_its_result_back) {
  EXPECT_EQ(sorted_lines(text_after(channels_last, kConv + "%z = relu(%y)", {"z"})),
            sorted_lines(same_text(kTurned + "%z = relu(%y)  %z/channels_first = transpose(%z) {perm=[0, 3, 1, 2]}",
                                   {"z/channels_first"})));
}

TEST(channels_last, makes_a_bias_a_row) {
  expect_after(channels_last,
               kConv +
                   "%b = placeholder() {shape=[4]}  %c = reshape(%b) {shape=[4, 1, 1]}  %s = add(%y, %c)  "
                   "%z = reduce_mean(%s) {axes=[2, 3]}",
               {"z"}, kTurned + "%b = placeholder() {shape=[4]}  %s = add(%y, %b)  %z = reduce_mean(%s) {axes=[1, 2]}");
}

TEST(channels_last, turns_constants_once) {
  std::string numbers = "0";
  for (int i = 1; i < 24; ++i) numbers += str(", ", i);
  const std::string text = text_after(
      channels_last, kConv + "%c = constant() {value=f32[4, 1, 6](" + numbers + ")}  %s = add(%y, %c)", {"s"});
  size_t transposes = 0;
  for (size_t at = text.find("transpose("); at != std::string::npos; at = text.find("transpose(", at + 1)) ++transposes;
  EXPECT_EQ(transposes, 2u) << text;  // of %x, and of the result
}

TEST(channels_last, undoes_what_turned_images_before) {
  expect_after(channels_last, R"(
    %i = placeholder() {shape=[2, 8, 6, 3]}
    %w = placeholder() {shape=[3, 3, 3, 4]}
    %x = transpose(%i) {perm=[0, 3, 1, 2]}
    %y = conv2d(%x, %w) {data_format=nchw}
    %z = transpose(%y) {perm=[0, 2, 3, 1]}
    %s = relu(%z))",
               {"s"}, R"(
    %i = placeholder() {shape=[2, 8, 6, 3]}
    %w = placeholder() {shape=[3, 3, 3, 4]}
    %y = conv2d(%i, %w)
    %s = relu(%y))");
}

TEST(channels_last, only_reshapes_what_lies_alike) {
  expect_after(channels_last, R"(
    %x = placeholder() {shape=[2, 1, 8, 6]}
    %w = placeholder() {shape=[3, 3, 1, 4]}
    %y = conv2d(%x, %w) {data_format=nchw}
    %z = reduce_sum(%y) {axes=[0, 2, 3]})",
               {"z"}, R"(
    %x = placeholder() {shape=[2, 1, 8, 6]}
    %w = placeholder() {shape=[3, 3, 1, 4]}
    %x/channels_last = reshape(%x) {shape=[2, 8, 6, 1]}
    %y = conv2d(%x/channels_last, %w)
    %z = reduce_sum(%y) {axes=[0, 1, 2]})");
}

// Each of these after a convolution: everything is turned, and comes to what it was.
TEST(channels_last, takes_along_what_follows) {
  const std::string conv = R"(
    %x = placeholder() {shape=[2, 3, 8, 6]}
    %w = placeholder() {shape=[3, 3, 3, 4]}
    %g = placeholder() {shape=[4]}
    %d = placeholder() {shape=[2, 4, 8, 6]}
    %y = conv2d(%x, %w) {data_format=nchw}
)";
  std::map<std::string, HostTensor> feeds;
  std::mt19937 random(1);
  for (const auto& [name, shape] :
       {std::pair{"x", Shape(2, 3, 8, 6)}, {"w", Shape(3, 3, 3, 4)}, {"g", Shape(4)}, {"d", Shape(2, 4, 8, 6)}}) {
    HostTensor value(shape, f32);
    std::normal_distribution<float> normal(0, 1);
    for (float& v : value.mutable_data<float>()) v = std::abs(normal(random)) + 0.1F;
    feeds.emplace(name, value);
  }
  for (const char* op :
       {"%z = max_pool(%y) {data_format=nchw}",
        "%p = max_pool(%y) {data_format=nchw}  %z = cast(%p:1)",
        "%p = max_pool(%y) {data_format=nchw}  %z = max_pool_grad(%p:1, %p) {image=[8, 6], data_format=nchw}",
        "%p = max_pool(%y) {data_format=nchw}  %z = max_pool_take(%y, %p:1) {data_format=nchw}",
        "%z = avg_pool(%y) {size_h=3, stride_w=1, data_format=nchw}",
        "%p = avg_pool(%y) {data_format=nchw}  %z = avg_pool_grad(%p) {image=[8, 6], data_format=nchw}",
        "%z = batch_norm_training(%y, %g, %g) {data_format=nchw}",
        "%z = batch_norm_training(%y, %g, %g, %d) {data_format=nchw, relu=true}",
        "%z = batch_norm_inference(%y, %g, %g, %g, %g) {data_format=nchw}",
        "%z = batch_norm_training_grad(%y, %g, %g, %g, %g, %d) {data_format=nchw}",
        "%z = batch_norm_inference_grad(%d, %g, %g, %g, %g, %y) {data_format=nchw}",
        "%z = group_norm(%y, %g, %g) {groups=2, data_format=nchw}",
        "%n = group_norm(%y, %g, %g) {groups=2, data_format=nchw}  "
        "%z = group_norm_grad(%y, %g, %n:1, %n:2, %d) {groups=2, data_format=nchw}",
        "%z = layer_norm(%y, %g, %g) {begin_axis=1, data_format=nchw}",
        "%n = layer_norm(%y, %g, %g) {begin_axis=1, data_format=nchw}  "
        "%z = layer_norm_grad(%y, %g, %n:1, %n:2, %d) {begin_axis=1, data_format=nchw}",
        "%z = channel_window_sum(%y) {axis=1, radius=1}",
        "%z = resize(%y) {data_format=nchw, size=[5, 9]}",
        "%z = resize_grad(%y) {data_format=nchw, size=[4, 3]}",
        "%z = pixel_shuffle(%y) {data_format=nchw}",
        "%z = pixel_unshuffle(%y) {order=block_major, data_format=nchw}",
        "%z = concat(%y, %d) {axis=1}",
        "%z = concat(%d, %y, %d) {axis=-1}",
        "%s = split(%y) {axis=1, pieces=2}  %z = negative(%s:1)",
        "%s = split(%y) {axis=2, sizes=[1, 7]}  %z = negative(%s:1)",
        "%z = pad(%y) {before=[0, 1, 2, 0], after=[0, 0, 1, 3], value=2}",
        "%z = pad(%y) {before=[0, 0, 2, 0], after=[0, 0, 1, 3], mode=reflect}",
        "%z = pad_grad(%y) {before=[0, 0, 2, 0], after=[0, 0, 1, 2], mode=reflect}",
        "%z = slice(%y) {begin=[1, 0, 2, 0], size=[1, 3, 4, -1]}",
        "%z = strided_slice(%y) {begin=[0, 9223372036854775807], end=[2, -9223372036854775808], stride=[1, -1]}",
        "%z = strided_slice_grad(%y) {begin=[0, 1, 0], end=[2, 5, 8], shape=[2, 6, 8, 6]}",
        "%z = reduce_sum(%y) {axes=[2, 3]}",
        "%z = reduce_max(%y) {axes=[1]}",
        "%z = reduce_min(%y) {axes=[-1]}",
        "%z = reduce_prod(%y) {axes=[0, 2], keep_dims=true}",
        "%z = reduce_mean(%y)",
        "%m = reduce_mean(%y) {axes=[2, 3], keep_dims=true}  %z = multiply(%y, %m)",
        "%z = add(%d, %y)",
        "%v = reshape(%g) {shape=[4, 1, 1]}  %z = multiply(%v, %y)",
        "%v = slice(%d) {begin=[0, 0, 0, 0], size=[1, 1, 8, 6]}  %h = reshape(%v) {shape=[8, 6]}  %z = add(%y, %h)",
        "%c = constant() {value=f32[](2)}  %z = pow(%y, %c)",
        "%z = transpose(%y) {perm=[1, 0, 3, 2]}",
        "%z = reshape(%y) {shape=[8, 48]}",
        "%z = cumsum(%y) {axis=1}",
        "%k = conv2d_grad_kernel(%x, %y) {shape=[3, 3, 3, 4], data_format=nchw}  %z = negative(%k)",
        "%k = conv2d_grad_input(%y, %w) {shape=[2, 3, 8, 6], data_format=nchw}  %z = negative(%k)",
        "%k = conv2d_grad_input(%y, %w) {stride_h=2, stride_w=2, data_format=nchw}  %z = negative(%k)",
        "%z = conv2d(%y, %v) {groups=2, data_format=nchw}  %v = placeholder() {shape=[1, 1, 2, 6]}"}) {
    std::string text = conv + op;
    if (std::string(op).find("placeholder") != std::string::npos) {
      text = "%v = placeholder() {shape=[1, 1, 2, 6]}\n" + conv + std::string(op).substr(0, std::string(op).find("  "));
      feeds.insert_or_assign("v", HostTensor::full({1, 1, 2, 6}, f32, 0.5));
    }
    PlanGraph plan = parse_plan(text, {"z"});
    const HostTensor expected = run_plan(plan, feeds)[0];
    EXPECT_TRUE(channels_last(plan)) << op;
    verify(plan.graph);
    EXPECT_EQ(plan_text(plan).find("nchw"), std::string::npos) << plan_text(plan);
    const HostTensor got = run_plan(plan, feeds)[0];
    ASSERT_EQ(got.shape(), expected.shape()) << op;
    for (int64_t i = 0; i < got.num_elements(); ++i)
      ASSERT_NEAR(got.at(i), expected.at(i), 1e-4 * (1 + std::abs(expected.at(i)))) << op << " element " << i;
  }
}

TEST(channels_last, leaves_the_rest_alone) {
  for (const char* text :
       {"%x = placeholder() {shape=[2, 8, 6, 3]}  %w = placeholder() {shape=[3, 3, 3, 4]}  %z = conv2d(%x, %w)",
        "%x = placeholder() {shape=[2, 3, 8, 6]}  %z = max_pool(%x) {data_format=nchw}",
        "%x = placeholder() {shape=[2, 3, 8, 6], dtype=f64}  %w = placeholder() {shape=[3, 3, 3, 4], dtype=f64}  "
        "%z = conv2d(%x, %w) {data_format=nchw}",
        "%x = placeholder() {shape=[2, 3, 8, 6]}  %w = placeholder() {shape=[3, 3, 3, 4]}  "
        "%z = conv2d(%x, %w) {data_format=nchw} after(%w)"})
    expect_kept(channels_last, text, {"z"});
}

// Where a reduction would leave dimensions in another order.
TEST(channels_last, turns_back_for_what_cannot_be_turned) {
  expect_after(channels_last, kConv + "%z = reduce_sum(%y) {axes=[0]}", {"z"},
               kTurned +
                   "%y/channels_first = transpose(%y) {perm=[0, 3, 1, 2]}  "
                   "%z = reduce_sum(%y/channels_first) {axes=[0]}");
}

}  // namespace
}  // namespace martello
