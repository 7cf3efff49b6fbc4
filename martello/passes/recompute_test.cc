#include <martello/base/error.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

void expect_recomputed(const std::string& before, const Names& fetches, const std::string& after) {
  EXPECT_EQ(text_after(recompute, before, fetches), same_text(after, fetches));
}
void expect_kept(const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(text, fetches);
  EXPECT_FALSE(recompute(plan)) << text;
  EXPECT_EQ(plan_text(plan), same_text(text, fetches));
}

TEST(recompute, gives_gradients_a_copy_of_a_cheap_value) {
  expect_recomputed(R"(
    %x = placeholder() {shape=[64, 64]}
    %z = matmul(%x, %x)
    %h = gelu(%z) recompute(1)
    %y = matmul(%h, %x)
    %dh = matmul(%y, %x) backward
    %dw = matmul(%h, %dh) backward
    %dz = multiply(%dh, %z) backward)",
                    {"y", "dw", "dz"}, R"(
    %x = placeholder() {shape=[64, 64]}
    %z = matmul(%x, %x)
    %h = gelu(%z) recompute(1)
    %y = matmul(%h, %x)
    %dh = matmul(%y, %x) backward
    %dw = matmul(%h/again, %dh) backward
    %dz = multiply(%dh, %z) backward
    %h/again = gelu(%z) backward)");
}

TEST(recompute, makes_chains_again_and_shares_them) {
  expect_recomputed(R"(
    %x = placeholder() {shape=[64, 64]}
    %z = matmul(%x, %x)
    %a = gelu(%z) recompute(1)
    %flat = reshape(%a) {shape=[4096]} recompute(1)
    %b = tanh(%flat) recompute(1)
    %y = exp(%b)
    %da = multiply(%z, %a) backward
    %db = multiply(%y, %b) backward)",
                    {"da", "db"}, R"(
    %x = placeholder() {shape=[64, 64]}
    %z = matmul(%x, %x)
    %a = gelu(%z) recompute(1)
    %flat = reshape(%a) {shape=[4096]} recompute(1)
    %b = tanh(%flat) recompute(1)
    %y = exp(%b)
    %da = multiply(%z, %a/again) backward
    %db = multiply(%y, %b/again) backward
    %a/again = gelu(%z) backward
    %flat/again = reshape(%a/again) {shape=[4096]} backward
    %b/again = tanh(%flat/again) backward)");
}

TEST(recompute, follows_a_value_through_a_reshape_outside_the_scope) {
  expect_recomputed(R"(
    %x = placeholder() {shape=[64, 64]}
    %a = exp(%x) recompute(1)
    %flat = reshape(%a) {shape=[4096]}
    %y = tanh(%flat)
    %da = multiply(%y, %flat) backward)",
                    {"da"}, R"(
    %x = placeholder() {shape=[64, 64]}
    %a = exp(%x) recompute(1)
    %flat = reshape(%a) {shape=[4096]}
    %y = tanh(%flat)
    %da = multiply(%y, %flat/again) backward
    %a/again = exp(%x) backward
    %flat/again = reshape(%a/again) {shape=[4096]} backward)");
}

TEST(recompute, keeps_what_another_scope_reads) {
  expect_recomputed(R"(
    %x = placeholder() {shape=[64, 64]}
    %a = exp(%x) recompute(1)
    %b = tanh(%a) recompute(2)
    %y = sqrt(%b)
    %db = multiply(%y, %b) backward
    %da = multiply(%db, %a) backward)",
                    {"da"}, R"(
    %x = placeholder() {shape=[64, 64]}
    %a = exp(%x) recompute(1)
    %b = tanh(%a) recompute(2)
    %y = sqrt(%b)
    %db = multiply(%y, %b/again) backward
    %da = multiply(%db, %a) backward
    %b/again = tanh(%a) backward)");
}

// With all ten back at once nothing would be saved.
TEST(recompute, keeps_a_value_of_a_long_chain) {
  std::string text = "%n0 = placeholder() {shape=[8]}\n";
  Names fetches;
  for (int i = 1; i <= 10; ++i) {
    text += str("%n", i, " = exp(%n", i - 1, ") recompute(1)  %d", i, " = sqrt(%n", i, ") backward\n");
    fetches.push_back(str("d", i));
  }
  PlanGraph plan = parse_plan(text + "%y = sqrt(%n10)", fetches);
  plan.targets = {plan.graph.get_operation("y")};
  EXPECT_TRUE(recompute(plan));
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(plan.graph.find_operation(str("n", i, "/again")).has_value(), i != 9) << i;
  EXPECT_EQ(plan.graph.get_operation("n10/again").node()->inputs[0].name(), "n9");
}

TEST(recompute, drops_a_value_that_only_gradients_read) {
  expect_recomputed(R"(
    %x = placeholder() {shape=[8]}
    %a = exp(%x) recompute(1)
    %da = sqrt(%a) backward)",
                    {"da"}, R"(
    %x = placeholder() {shape=[8]}
    %da = sqrt(%a/again) backward
    %a/again = exp(%x) backward)");
}

TEST(recompute, gives_random_numbers_again_by_their_counter) {
  expect_recomputed(R"(
    %n = placeholder() {shape=[2], dtype=i64}
    %x = placeholder() {shape=[64, 64]}
    %d = dropout(%n, %x) {rate=0.5, key=7} recompute(1)
    %y = matmul(%d, %x)
    %dw = matmul(%d, %y) backward)",
                    {"dw"}, R"(
    %n = placeholder() {shape=[2], dtype=i64}
    %x = placeholder() {shape=[64, 64]}
    %d = dropout(%n, %x) {rate=0.5, key=7} recompute(1)
    %y = matmul(%d, %x)
    %dw = matmul(%d/again, %y) backward
    %d/again = dropout(%n, %x) {rate=0.5, key=7} backward)");
}

TEST(recompute, leaves_values_outside_a_scope_alone) {
  expect_kept(R"(
    %x = placeholder() {shape=[8]}
    %a = exp(%x)
    %y = sqrt(%a)
    %da = multiply(%y, %a) backward)",
              {"da"});
}

TEST(recompute, leaves_values_that_no_gradient_reads_alone) {
  expect_kept(R"(
    %x = placeholder() {shape=[8]}
    %a = exp(%x) recompute(1)
    %y = sqrt(%a) recompute(1))",
              {"y"});
}

TEST(recompute, keeps_fetched_values) {
  expect_kept(R"(
    %x = placeholder() {shape=[8]}
    %a = exp(%x) recompute(1)
    %da = sqrt(%a) backward)",
              {"a", "da"});
}

TEST(recompute, never_computes_products_and_large_sums_again) {
  expect_kept(R"(
    %x = placeholder() {shape=[64, 64]}
    %p = matmul(%x, %x) recompute(1)
    %s = reduce_sum(%x) {axes=[0]} recompute(1)
    %y = add(%p, %s)
    %dp = multiply(%y, %p) backward
    %ds = multiply(%dp, %s) backward)",
              {"ds"});
}

// relu's gradient reads its output alone: with the output gone its input would have to stay.
TEST(recompute, keeps_a_value_whose_inputs_are_no_smaller) {
  expect_kept(R"(
    %x = placeholder() {shape=[64, 64]}
    %z = matmul(%x, %x)
    %h = relu(%z) recompute(1)
    %y = matmul(%h, %x)
    %dz = relu_grad(%h, %y) backward)",
              {"dz"});
}

}  // namespace
}  // namespace martello
