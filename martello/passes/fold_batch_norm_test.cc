#include <martello/passes/freeze.h>

#include <martello/passes/internal/fold.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace martello {
namespace {

using namespace testing;

// gamma 3, variance 3 + epsilon 1: a scale of 1.5; beta 1, mean 2: a shift of -2.
const std::string kNorm = R"(
    %gamma = constant() {value=f32[2](3, 3)}
    %beta = constant() {value=f32[2](1, 1)}
    %mean = constant() {value=f32[2](2, 2)}
    %variance = constant() {value=f32[2](3, 3)})";

std::string folded(const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(text, fetches);
  EXPECT_TRUE(fold_batch_norm(plan)) << text;
  fold_constants(plan);
  verify(plan.graph);
  return sorted_lines(plan_text(plan));
}

void expect_unchanged(const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(text, fetches);
  EXPECT_FALSE(fold_batch_norm(plan)) << text;
  EXPECT_EQ(plan_text(plan), same_text(text, fetches));
}

TEST(fold_batch_norm, scales_the_kernel_of_a_convolution) {
  EXPECT_EQ(folded(R"(
    %x = placeholder() {shape=[?, 4, 4, 1]}
    %w = constant() {value=f32[1, 1, 1, 2](10, 20)})" +
                       kNorm + R"(
    %y = conv2d(%x, %w)
    %n = batch_norm_inference(%y, %gamma, %beta, %mean, %variance) {epsilon=1}
    %r = relu(%n))",
                   {"r"}),
            sorted_lines(same_text(R"(
    %x = placeholder() {shape=[?, 4, 4, 1]}
    %y = conv2d(%x, %n/weights)
    %n = add(%y, %n/shift)
    %r = relu(%n)
    %n/shift = constant() {value=f32[2](-2, -2)}
    %n/weights = constant() {value=f32[1, 1, 1, 2](15, 30)})",
                                   {"r"})));
}

TEST(fold_batch_norm, takes_the_bias_of_a_product_with_it) {
  EXPECT_EQ(folded(R"(
    %x = placeholder() {shape=[?, 1]}
    %w = constant() {value=f32[1, 2](10, 20)}
    %b = constant() {value=f32[2](4, 2)})" +
                       kNorm + R"(
    %y = matmul(%x, %w)
    %z = add(%y, %b)
    %n = batch_norm_inference(%z, %gamma, %beta, %mean, %variance) {epsilon=1})",
                   {"n"}),
            sorted_lines(same_text(R"(
    %x = placeholder() {shape=[?, 1]}
    %y = matmul(%x, %n/weights)
    %n = add(%y, %n/shift)
    %n/weights = constant() {value=f32[1, 2](15, 30)}
    %n/shift = constant() {value=f32[2](4, 1)})",
                                   {"n"})));
}

TEST(fold_batch_norm, looks_through_names) {
  const std::string product = R"(
    %x = placeholder() {shape=[?, 1]}
    %w = constant() {value=f32[1, 2](10, 20)})" +
                              kNorm + R"(
    %y = matmul(%x, %w)
    %output = identity(%y)
    %n = batch_norm_inference(%output, %gamma, %beta, %mean, %variance) {epsilon=1})";
  const std::string text = folded(product, {"n"});
  EXPECT_NE(text.find("%n = add(%y, %n/shift)"), std::string::npos) << text;
  expect_unchanged(product, {"n", "output"});
}

TEST(fold_batch_norm, shifts_channels_that_come_first) {
  const std::string text = folded(R"(
    %x = placeholder() {shape=[?, 1, 4, 4]}
    %w = constant() {value=f32[1, 1, 1, 2](10, 20)})" +
                                      kNorm + R"(
    %y = conv2d(%x, %w) {data_format=nchw}
    %n = batch_norm_inference(%y, %gamma, %beta, %mean, %variance) {epsilon=1, data_format=nchw})",
                                  {"n"});
  EXPECT_NE(text.find("f32[2, 1, 1](-2, -2)"), std::string::npos) << text;
}

TEST(fold_batch_norm, leaves_a_product_that_is_read_elsewhere) {
  const std::string text = R"(
    %x = placeholder() {shape=[?, 1]}
    %w = constant() {value=f32[1, 2](10, 20)})" +
                           kNorm + R"(
    %y = matmul(%x, %w)
    %n = batch_norm_inference(%y, %gamma, %beta, %mean, %variance)
    %s = add(%y, %n))";
  expect_unchanged(text, {"s"});
  expect_unchanged(text, {"n", "y"});
}

TEST(fold_batch_norm, leaves_weights_and_moments_that_may_change) {
  const std::string x = "%x = placeholder() {shape=[?, 1]}\n", moving = "%w = placeholder() {shape=[1, 2]}\n";
  const std::string norm = R"(
    %y = matmul(%x, %w)
    %n = batch_norm_inference(%y, %gamma, %beta, %mean, %variance))";
  expect_unchanged(x + moving + kNorm + norm, {"n"});
  const std::string still = "%w = constant() {value=f32[1, 2](10, 20)}\n%m = placeholder() {shape=[2]}\n";
  expect_unchanged(x + still + kNorm + R"(
    %y = matmul(%x, %w)
    %n = batch_norm_inference(%y, %gamma, %beta, %m, %variance))",
                   {"n"});
}

TEST(fold_batch_norm, a_sum_along_another_axis_is_no_bias) {
  expect_unchanged(R"(
    %x = placeholder() {shape=[?, 2, 2, 1]}
    %w = constant() {value=f32[1, 1, 1, 2](10, 20)}
    %b = constant() {value=f32[2, 1](4, 2)})" +
                       kNorm + R"(
    %y = conv2d(%x, %w)
    %z = add(%y, %b)
    %n = batch_norm_inference(%z, %gamma, %beta, %mean, %variance))",
                   {"n"});
}

TEST(bind_variables, gives_constants_their_names) {
  PlanGraph plan = parse_plan(R"(
    %w = variable() {shape=[2]}
    %c = variable() {shape=[2], dtype=i64, trainable=false, is_counter=true}
    %y = multiply(%w, %w)
    %r = random_uniform(%c) {shape=[2]}
    %z = add(%y, %r))",
                              {"z"});
  EXPECT_TRUE(bind_variables(plan, [](const std::string& name) {
    EXPECT_EQ(name, "w");
    return HostTensor::of<float>({1, 2});
  }));
  const std::string text = plan_text(plan);
  EXPECT_NE(text.find("%w = constant() {value=f32[2](1, 2)}"), std::string::npos) << text;
  EXPECT_NE(text.find("%c = variable()"), std::string::npos) << text;
}

}  // namespace
}  // namespace martello
