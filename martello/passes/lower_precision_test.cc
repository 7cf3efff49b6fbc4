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

constexpr const char* kImages = R"(
    %x = placeholder() {shape=[4, 14, 14, 32]}
    %w = placeholder() {shape=[3, 3, 32, 48]}
    %dy = placeholder() {shape=[4, 7, 7, 48]}
)";

// Forward and the kernel's gradient share one x, both gradients one dy, and the two kernels one cast.
TEST(lower_precision, casts_what_convolutions_multiply_once) {
  if (!onednn::has_bf16()) GTEST_SKIP() << "needs AVX-512";
  expect_lowered(str(kImages, R"(
    %y = conv2d(%x, %w) {stride_h=2, stride_w=2}
    %dx = conv2d_grad_input(%dy, %w) {stride_h=2, stride_w=2, shape=[4, 14, 14, 32]}
    %dw = conv2d_grad_kernel(%x, %dy) {stride_h=2, stride_w=2, shape=[3, 3, 32, 48]})"),
                 {"y", "dx", "dw"}, str(kImages, R"(
    %x/bf16 = cast(%x) {dtype=bf16}
    %w/bf16 = cast(%w) {dtype=bf16}
    %dy/bf16 = cast(%dy) {dtype=bf16}
    %y = conv2d(%x/bf16, %w/bf16) {stride_h=2, stride_w=2, widen=true}
    %dx = conv2d_grad_input(%dy/bf16, %w/bf16) {stride_h=2, stride_w=2, shape=[4, 14, 14, 32], widen=true}
    %dw = conv2d_grad_kernel(%x/bf16, %dy/bf16) {stride_h=2, stride_w=2, shape=[3, 3, 32, 48], widen=true})"));
}

TEST(lower_precision, keeps_the_bias_of_a_convolution_in_f32) {
  if (!onednn::has_bf16()) GTEST_SKIP() << "needs AVX-512";
  expect_lowered(str(kImages, R"(
    %bias = placeholder() {shape=[48]}
    %y = conv2d(%x, %w, %bias) {activation=relu})"),
                 {"y"}, str(kImages, R"(
    %bias = placeholder() {shape=[48]}
    %x/bf16 = cast(%x) {dtype=bf16}
    %w/bf16 = cast(%w) {dtype=bf16}
    %y = conv2d(%x/bf16, %w/bf16, %bias) {activation=relu, widen=true})"));
}

// Batch norms read what bf16 products give as bf16, by one cast, which fusion leaves to the convolution.
TEST(lower_precision, rounds_convolutions_for_batch_norms) {
  if (!onednn::has_bf16()) GTEST_SKIP() << "needs AVX-512";
  const std::string norms = str(kImages, "%g = placeholder() {shape=[48]}");
  const std::string before = str(norms, R"(
    %y = conv2d(%x, %w) {stride_h=2, stride_w=2}
    %n = batch_norm_training(%y, %g, %g)
    %d = batch_norm_training_grad(%y, %g, %g, %n:1, %n:2, %dy))");
  expect_lowered(before, {"n", "d"}, str(norms, R"(
    %x/bf16 = cast(%x) {dtype=bf16}
    %w/bf16 = cast(%w) {dtype=bf16}
    %y = conv2d(%x/bf16, %w/bf16) {stride_h=2, stride_w=2, widen=true}
    %y/bf16 = cast(%y) {dtype=bf16}
    %n = batch_norm_training(%y/bf16, %g, %g) {widen=true}
    %d = batch_norm_training_grad(%y/bf16, %g, %g, %n:1, %n:2, %dy) {widen=true})"));
  PlanGraph plan = parse_plan(before, {"n", "d"});
  lower_to_bf16(plan);
  fuse(plan);
  EXPECT_CONTAINS(plan_text(plan), "widen=true, narrow=true}");
  EXPECT_EQ(plan_text(plan).find("%y/bf16"), std::string::npos) << plan_text(plan);
}

TEST(lower_precision, leaves_batch_norms_of_anything_else) {
  expect_kept(
      "%x = placeholder() {shape=[4, 7, 7, 48]} %g = placeholder() {shape=[48]} %n = batch_norm_training(%x, %g, %g)",
      {"n"});
}

// Sums too short to gain, depthwise ones, none, and what only loops of our own compute.
TEST(lower_precision, leaves_convolutions_that_gain_nothing) {
  expect_kept(R"(
    %x = placeholder() {shape=[4, 28, 28, 3]}
    %w = placeholder() {shape=[3, 3, 3, 32]}
    %y = conv2d(%x, %w))",
              {"y"});
  expect_kept(R"(
    %x = placeholder() {shape=[4, 28, 28, 32]}
    %w = placeholder() {shape=[5, 5, 1, 32]}
    %y = conv2d(%x, %w) {groups=32})",
              {"y"});
  expect_kept(R"(
    %x = placeholder() {shape=[0, 28, 28, 32]}
    %w = placeholder() {shape=[3, 3, 32, 32]}
    %y = conv2d(%x, %w))",
              {"y"});
  expect_kept(R"(
    %x = placeholder() {shape=[4, 600, 3, 8]}
    %w = placeholder() {shape=[500, 1, 8, 32]}
    %y = conv2d(%x, %w) {padding=valid})",
              {"y"});
  expect_kept(R"(
    %x = placeholder() {shape=[4, 14, 14, 32], dtype=f64}
    %w = placeholder() {shape=[3, 3, 32, 32], dtype=f64}
    %y = conv2d(%x, %w))",
              {"y"});
}

// The copy into the library's layout rounds by itself: no cast of a kernel is left.
TEST(lower_precision, leaves_the_kernel_to_the_layout) {
  if (!onednn::has_bf16()) GTEST_SKIP() << "needs AVX-512";
  PlanGraph plan = parse_plan(str(kImages, "%y = conv2d(%x, %w)"), {"y"});
  plan.precision = Precision::bf16;
  run_passes(plan, {});
  const std::string text = plan_text(plan);
  EXPECT_CONTAINS(text, "= reorder(%w)");
  EXPECT_EQ(text.find("%w/bf16"), std::string::npos) << text;
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
  using internal::check_precision, onednn::Bf16;
  for (const cpu::Isa level : {cpu::Isa::v2, cpu::Isa::v3}) {
    const std::string text = error_of<InvalidArgument>([&] { check_precision(Precision::bf16, level, Bf16::none); });
    for (const std::string& part : {std::string("bf16"), std::string("AVX-512"), std::string(cpu::to_string(level))})
      EXPECT_CONTAINS(text, part);
    EXPECT_NO_THROW(check_precision(Precision::f32, level, Bf16::none));
  }
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { check_precision(Precision::bf16, cpu::Isa::v4, Bf16::none); }),
                  "ONEDNN_MAX_CPU_ISA");
  EXPECT_NO_THROW(check_precision(Precision::bf16, cpu::Isa::v4, Bf16::native));
}

TEST(check_precision, warns_where_bf16_is_emulated) {
  const testing::Log log;
  internal::check_precision(Precision::bf16, cpu::Isa::v4, onednn::Bf16::native);
  internal::check_precision(Precision::f32, cpu::Isa::v4, onednn::Bf16::emulated);
  EXPECT_EQ(log.lines.size(), 0u);
  internal::check_precision(Precision::bf16, cpu::Isa::v4, onednn::Bf16::emulated);
  ASSERT_EQ(log.lines.size(), 1u);
  for (const char* part : {"bf16", "AVX512_BF16", "slower"}) EXPECT_CONTAINS(log.lines[0], part);
}

}  // namespace
}  // namespace martello
