#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

void expect_merged(const std::string& before, const Names& fetches, const std::string& after,
                   const Names& fetches_after) {
  EXPECT_EQ(text_after(cse, before, fetches), same_text(after, fetches_after));
}
void expect_kept(const std::string& text, const Names& fetches) { expect_merged(text, fetches, text, fetches); }

TEST(cse, merges_chains_of_equal_nodes) {
  expect_merged(R"(
    %x = placeholder() {shape=[2]}
    %a = exp(%x)
    %b = exp(%x)
    %sqrt_a = sqrt(%a)
    %sqrt_b = sqrt(%b)
    %y = add(%sqrt_a, %sqrt_b))",
                {"y", "sqrt_b"}, R"(
    %x = placeholder() {shape=[2]}
    %a = exp(%x)
    %sqrt_a = sqrt(%a)
    %y = add(%sqrt_a, %sqrt_a))",
                {"y", "sqrt_a"});
}

TEST(cse, merges_constants_by_their_bits) {
  expect_merged(R"(
    %a = constant() {value=f32[](2)}
    %b = constant() {value=f32[](2)}
    %zero = constant() {value=f32[](0)}
    %minus_zero = constant() {value=f32[](-0)}
    %integer = constant() {value=i32[](2)})",
                {"a", "b", "zero", "minus_zero", "integer"}, R"(
    %a = constant() {value=f32[](2)}
    %zero = constant() {value=f32[](0)}
    %minus_zero = constant() {value=f32[](-0)}
    %integer = constant() {value=i32[](2)})",
                {"a", "a", "zero", "minus_zero", "integer"});
}

TEST(cse, keeps_nodes_that_differ_in_attributes_inputs_device_or_controls) {
  expect_kept(R"(
    %x = placeholder() {shape=[2, 2]}
    %y = placeholder() {shape=[2, 2]}
    %a = reduce_sum(%x) {axes=[0]}
    %b = reduce_sum(%x) {axes=[1]}
    %c = reduce_sum(%y) {axes=[0]}
    %d = reduce_sum(%x) {axes=[0]} on("cpu:1")
    %e = reduce_sum(%x) {axes=[0]} after(%y)
    %xy = subtract(%x, %y)
    %yx = subtract(%y, %x))",
              {"a", "b", "c", "d", "e", "xy", "yx"});
}

TEST(cse, tells_zero_from_minus_zero_in_attributes) {
  expect_kept(R"(
    %a = fill() {shape=[2]}
    %b = fill() {shape=[2], value=-0})",
              {"a", "b"});
}

TEST(cse, merges_all_outputs) {
  expect_merged(R"(
    %x = placeholder() {shape=[4]}
    %a = split(%x) {pieces=2}
    %b = split(%x) {pieces=2}
    %y = add(%a:1, %b:1))",
                {"y"}, R"(
    %x = placeholder() {shape=[4]}
    %a = split(%x) {pieces=2}
    %y = add(%a:1, %a:1))",
                {"y"});
}

TEST(cse, keeps_feeds_and_variables_apart) {
  expect_kept(R"(
    %a = placeholder() {shape=[2]}
    %b = placeholder() {shape=[2]}
    %v = variable() {shape=[2], initializer=subgraph() -> (%zeros) {
      initializer
      %zeros = fill() {shape=[2]}
    }}
    %w = variable() {shape=[2], initializer=subgraph() -> (%zeros) {
      initializer
      %zeros = fill() {shape=[2]}
    }})",
              {"a", "b", "v", "w"});
}

TEST(cse, sends_control_edges_and_targets_to_the_node_that_stays) {
  PlanGraph plan = parse_plan(R"(
    %x = placeholder() {shape=[2]}
    %a = exp(%x)
    %b = exp(%x)
    %c = sqrt(%x) after(%b))",
                              {"c", "a"});
  plan.targets = {plan.graph.get_operation("b")};
  EXPECT_TRUE(cse(plan));
  EXPECT_EQ(plan_text(plan), same_text(R"(
    %x = placeholder() {shape=[2]}
    %a = exp(%x)
    %c = sqrt(%x) after(%a))",
                                       {"c", "a"}));
  EXPECT_EQ(plan.targets[0].name(), "a");
  EXPECT_FALSE(cse(plan));
}

}  // namespace
}  // namespace martello
