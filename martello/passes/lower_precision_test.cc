#include <martello/base/internal/test_text.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/passes/internal/pass_test.h>
#include <martello/passes/internal/precision_level.h>

#include <martello/base/error.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

bool lower_to_bf16(PlanGraph& plan) {
  plan.precision = Precision::bf16;
  return lower_precision(plan);
}

void expect_lowered(const std::string& before, const Names& fetches, const std::string& after) {
  EXPECT_EQ(sorted_lines(text_after(lower_to_bf16, before, fetches)), sorted_lines(same_text(after, fetches)));
}
void expect_kept(const std::string& text, const Names& fetches) { expect_lowered(text, fetches, text); }

constexpr const char* kFactors = R"(
    %a = placeholder() {shape=[128, 96]}
    %b = placeholder() {shape=[96, 160]}
)";

TEST(lower_precision, casts_factors_and_keeps_the_result) {
  expect_lowered(str(kFactors, "%y = matmul(%a, %b)"), {"y"}, str(kFactors, R"(
    %a/bf16 = cast(%a) {dtype=bf16}
    %b/bf16 = cast(%b) {dtype=bf16}
    %y = matmul(%a/bf16, %b/bf16) {widen=true})"));
}

TEST(lower_precision, keeps_the_bias_in_f32) {
  expect_lowered(str(kFactors, R"(
    %bias = placeholder() {shape=[160]}
    %y = linear(%a, %b, %bias) {activation=relu})"),
                 {"y"}, str(kFactors, R"(
    %bias = placeholder() {shape=[160]}
    %a/bf16 = cast(%a) {dtype=bf16}
    %b/bf16 = cast(%b) {dtype=bf16}
    %y = linear(%a/bf16, %b/bf16, %bias) {activation=relu, widen=true})"));
}

// A product and its gradients read each tensor twice.
TEST(lower_precision, casts_each_tensor_once) {
  expect_lowered(str(kFactors, R"(
    %dy = placeholder() {shape=[128, 160]}
    %y = matmul(%a, %b)
    %da = matmul(%dy, %b) {transpose_b=true}
    %db = matmul(%a, %dy) {transpose_a=true}
    %square = matmul(%a, %a) {transpose_b=true})"),
                 {"y", "da", "db", "square"}, str(kFactors, R"(
    %dy = placeholder() {shape=[128, 160]}
    %a/bf16 = cast(%a) {dtype=bf16}
    %b/bf16 = cast(%b) {dtype=bf16}
    %y = matmul(%a/bf16, %b/bf16) {widen=true}
    %dy/bf16 = cast(%dy) {dtype=bf16}
    %da = matmul(%dy/bf16, %b/bf16) {transpose_b=true, widen=true}
    %db = matmul(%a/bf16, %dy/bf16) {transpose_a=true, widen=true}
    %square = matmul(%a/bf16, %a/bf16) {transpose_b=true, widen=true})"));
}

TEST(lower_precision, tells_outputs_of_one_node_apart) {
  expect_lowered(R"(
    %x = placeholder() {shape=[256, 128]}
    %s = split(%x) {pieces=2}
    %y = matmul(%s:0, %s:1) {transpose_b=true})",
                 {"y"}, R"(
    %x = placeholder() {shape=[256, 128]}
    %s = split(%x) {pieces=2}
    %s/bf16 = cast(%s) {dtype=bf16}
    %s/bf16_1 = cast(%s:1) {dtype=bf16}
    %y = matmul(%s/bf16, %s/bf16_1) {transpose_b=true, widen=true})");
}

TEST(lower_precision, leaves_other_dtypes_small_products_and_vectors) {
  expect_kept(R"(
    %a = placeholder() {shape=[128, 96], dtype=f64}
    %b = placeholder() {shape=[96, 160], dtype=f64}
    %y = matmul(%a, %b))",
              {"y"});
  expect_kept("%a = placeholder() {shape=[64, 64]}  %y = matmul(%a, %a)", {"y"});
  expect_kept(R"(
    %x = placeholder() {shape=[1, 4096]}
    %w = placeholder() {shape=[4096, 4096]}
    %y = matmul(%x, %w))",
              {"y"});
}

TEST(lower_precision, does_nothing_unless_asked_and_nothing_twice) {
  PlanGraph plan = parse_plan(str(kFactors, "%y = matmul(%a, %b)"), {"y"});
  EXPECT_FALSE(lower_precision(plan));
  EXPECT_TRUE(lower_to_bf16(plan));
  EXPECT_FALSE(lower_to_bf16(plan));
}

TEST(lower_precision, leaves_bias_and_activation_to_fusion) {
  PlanGraph plan = parse_plan(str(kFactors, R"(
    %bias = placeholder() {shape=[160]}
    %m = matmul(%a, %b)
    %s = add(%m, %bias)
    %y = relu(%s))"),
                              {"y"});
  plan.precision = Precision::bf16;
  run_passes(plan, {});
  const std::string text = plan_text(plan);
  EXPECT_CONTAINS(text, "%y = linear(");
  EXPECT_CONTAINS(text, "{activation=relu, widen=true}");
}

TEST(lower_precision, can_be_switched_off) {
  PlanGraph plan = parse_plan(str(kFactors, "%y = matmul(%a, %b)"), {"y"});
  plan.precision = Precision::bf16;
  for (const PassRun& run : run_passes(plan, {"lower_precision"})) EXPECT_NE(run.name, "lower_precision");
  EXPECT_EQ(plan_text(plan).find("bf16"), std::string::npos);
}

TEST(check_precision, says_what_a_processor_lacks) {
  using internal::check_precision;
  for (const cpu::Isa level : {cpu::Isa::v2, cpu::Isa::v3}) {
    const std::string text = error_of<InvalidArgument>([&] { check_precision(Precision::bf16, level, false); });
    for (const std::string& part : {std::string("bf16"), std::string("AVX-512"), std::string(cpu::to_string(level))})
      EXPECT_CONTAINS(text, part);
    EXPECT_NO_THROW(check_precision(Precision::f32, level, false));
  }
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { check_precision(Precision::bf16, cpu::Isa::v4, false); }),
                  "ONEDNN_MAX_CPU_ISA");
  EXPECT_NO_THROW(check_precision(Precision::bf16, cpu::Isa::v4, true));
}

}  // namespace
}  // namespace martello
