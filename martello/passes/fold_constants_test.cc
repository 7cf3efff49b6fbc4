#include <martello/passes/internal/pass_test.h>

#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>

#include <gtest/gtest.h>

#include <chrono>

namespace martello {
namespace {

using namespace testing;

void expect_folded(const std::string& before, const Names& fetches, const std::string& after,
                   const Names& fetches_after) {
  EXPECT_EQ(text_after(fold_constants, before, fetches), same_text(after, fetches_after));
}

TEST(fold_constants, computes_what_depends_on_constants_only) {
  expect_folded(R"(
    %a = constant() {value=f32[2](1, 2)}
    %b = constant() {value=f32[](3)}
    %x = placeholder() {shape=[2]}
    %sum = add(%a, %b)
    %product = multiply(%sum, %sum)
    %y = multiply(%product, %x))",
                {"y"}, R"(
    %x = placeholder() {shape=[2]}
    %product = constant() {value=f32[2](16, 25)}
    %y = multiply(%product, %x))",
                {"y"});
}

TEST(fold_constants, knows_shapes_before_values) {
  expect_folded(R"(
    %x = placeholder() {shape=[4, 6]}
    %shape = shape(%x)
    %rows = select_row(%shape) {index=0}
    %two = constant() {value=i64[](2)}
    %twice = multiply(%rows, %two))",
                {"twice"}, "%twice = constant() {value=i64[](8)}", {"twice"});
}

TEST(fold_constants, makes_a_reshape_by_constants_an_alias) {
  expect_folded(R"(
    %x = placeholder() {shape=[4, 6]}
    %like = placeholder() {shape=[6, 4]}
    %shape = shape(%like)
    %y = reshape(%x, %shape))",
                {"y"}, R"(
    %x = placeholder() {shape=[4, 6]}
    %y = reshape(%x) {shape=[6, 4]})",
                {"y"});
}

TEST(fold_constants, fills_without_looking_at_the_value) {
  expect_folded(R"(
    %x = placeholder() {shape=[3]}
    %zeros = zeros_like(%x)
    %big = placeholder() {shape=[100, 100]}
    %ones = ones_like(%big)
    %n = size_of(%big) {dtype=f32})",
                {"zeros", "ones", "n"}, R"(
    %zeros = constant() {value=f32[3](0, 0, 0)}
    %ones = fill() {shape=[100, 100], value=1}
    %n = constant() {value=f32[](10000)})",
                {"zeros", "ones", "n"});
}

TEST(fold_constants, keeps_what_is_too_large) {
  const std::string before = R"(
    %a = constant() {value=f32[](1)}
    %y = broadcast_to(%a) {shape=[1024, 1024]})";
  expect_folded(before, {"y"}, before, {"y"});
}

TEST(fold_constants, gives_each_output_a_constant) {
  const std::string text = text_after(fold_constants, R"(
    %x = constant() {value=f32[4](1, 2, 3, 4)}
    %axis_parts = split(%x) {pieces=2})",
                                      {"axis_parts:1", "axis_parts"});
  EXPECT_EQ(text, same_text(R"(
    %axis_parts = constant() {value=f32[2](1, 2)}
    %axis_parts/1 = constant() {value=f32[2](3, 4)})",
                            {"axis_parts/1", "axis_parts"}));
}

TEST(fold_constants, leaves_an_error_of_the_run_to_the_run) {
  const std::string before = R"(
    %a = constant() {value=i32[](1)}
    %b = constant() {value=i32[](0)}
    %y = divide(%a, %b))";
  expect_folded(before, {"y"}, before, {"y"});
}

TEST(fold_constants, keeps_control_edges) {
  const std::string text = text_after(fold_constants, R"(
    %x = placeholder() {shape=[2]}
    %shape = shape(%x) after(%x))",
                                      {"shape"});
  EXPECT_EQ(text, same_text(R"(
    %x = placeholder() {shape=[2]}
    %shape = constant() {value=i64[1](2)} after(%x))",
                            {"shape"}));
}

TEST(fold_constants, folds_the_same_from_two_spellings) {
  const auto folded = [](const char* y) {
    return text_after(fold_constants, str("%x = placeholder() {shape=[2, 3]}\n", y), {"y"});
  };
  EXPECT_EQ(folded("%y = size(%x)"), folded("%y = size_of(%x)"));
}

TEST(fold_constants, is_linear) {
  GraphScope scope;
  const Tensor x = placeholder({8, 4}, f32, "x");
  Tensor rows = shape(x)[0], y = reshape(x, {rows, 4});
  for (int i = 0; i < 2500; ++i) {
    rows = maximum(rows * 1, 1);
    y = reshape(y, {rows, 4});
  }
  PlanGraph plan = extract(scope.graph(), {y}, {}, {x}, {Shape(8, 4)});
  const size_t nodes = plan.graph.size();
  EXPECT_GT(nodes, 10000u);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fold_constants(plan));
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::printf("fold_constants: %zu nodes in %.1f ms\n", nodes, ms);
  EXPECT_LT(ms, 1000);
  EXPECT_EQ(plan.graph.size(), 2502u);
}

}  // namespace
}  // namespace martello
