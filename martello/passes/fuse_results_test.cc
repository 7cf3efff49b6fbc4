#include <martello/graph/kernel_choice.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/passes/internal/fuse.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

const std::string kInputs = R"(
    %x = placeholder() {shape=[4, 6, 6, 8]}
    %g = placeholder() {shape=[8]}
    %b = placeholder() {shape=[8]}
)";
const std::string kGradient = "%dy = placeholder() {shape=[4, 6, 6, 8]}\n";

TEST(fuse_relu, gives_batch_norm_its_relu) {
  EXPECT_EQ(text_after(internal::fuse_relu, kInputs + R"(
    %n = batch_norm_training(%x, %g, %b)
    %y = relu(%n)
    %z = negative(%y))",
                       {"z", "n:1"}),
            same_text(kInputs + R"(
    %n = batch_norm_training(%x, %g, %b) {relu=true}
    %z = negative(%n))",
                      {"z", "n:1"}));
  EXPECT_EQ(text_after(internal::fuse_relu, kInputs + R"(
    %m = placeholder() {shape=[8]}
    %n = batch_norm_inference(%x, %g, %b, %m, %g)
    %y = relu(%n)
    %z = negative(%y))",
                       {"z"}),
            same_text(kInputs + R"(
    %m = placeholder() {shape=[8]}
    %n = batch_norm_inference(%x, %g, %b, %m, %g) {relu=true}
    %z = negative(%n))",
                      {"z"}));
}

const std::string kNorm =
    kInputs + kGradient + "%n = batch_norm_training(%x, %g, %b)  %y = relu(%n)  %s = relu_grad(%y, %dy)\n";

TEST(fuse_relu, lets_the_gradient_do_without_the_result) {
  EXPECT_EQ(
      text_after(internal::fuse_relu, kNorm + "%d = batch_norm_training_grad(%x, %g, %b, %n:1, %n:2, %s)", {"d", "y"}),
      plan_text(parse_plan(kInputs + kGradient + R"(
    %n = batch_norm_training(%x, %g, %b) {relu=true}
    %d = batch_norm_training_grad(%x, %g, %b, %n:1, %n:2, %dy) {relu=true})",
                           {"d", "n"})));
  EXPECT_EQ(text_after(internal::fuse_relu, kInputs + kGradient + R"(
    %m = placeholder() {shape=[8]}
    %n = batch_norm_inference(%x, %g, %b, %m, %g)
    %y = relu(%n)
    %s = relu_grad(%y, %dy)
    %d = batch_norm_inference_grad(%x, %g, %b, %m, %g, %s))",
                       {"d"}),
            same_text(kInputs + kGradient + R"(
    %m = placeholder() {shape=[8]}
    %d = batch_norm_inference_grad(%x, %g, %b, %m, %g, %dy) {relu=true})",
                      {"d"}));
}

TEST(fuse_relu, keeps_what_others_need) {
  expect_kept(internal::fuse_relu, kInputs + "%n = batch_norm_training(%x, %g, %b)  %y = relu(%n)", {"y", "n"});
  expect_kept(internal::fuse_relu, kInputs + "%n = batch_norm_training(%x, %g, %b)  %y = relu(%n)  %z = add(%y, %n)",
              {"z"});
  expect_kept(internal::fuse_relu,
              kInputs + kGradient + "%n = batch_norm_training(%x, %g, %b)  %y = relu(%n) after(%dy)", {"y"});
  expect_kept(internal::fuse_relu, kInputs + "%n = batch_norm_training(%x, %g, %b)  %y = relu(%n) on(\"cpu:1\")",
              {"y"});
}

// The gradient of another batch norm, of another x, and a slope that is read twice.
TEST(fuse_relu, keeps_gradients_of_something_else) {
  for (const std::string& d : {std::string("%d = batch_norm_training_grad(%x, %b, %b, %n:1, %n:2, %s)"),
                               std::string("%d = batch_norm_training_grad(%dy, %g, %b, %n:1, %n:2, %s)"),
                               std::string("%d = batch_norm_training_grad(%x, %g, %b, %n:1, %n:2, %s) {epsilon=0.5}"),
                               std::string("%d = batch_norm_training_grad(%x, %g, %b, %n:1, %n:2, %s)  "
                                           "%e = negative(%s)")}) {
    const bool is_read_twice = d.find("%e") != std::string::npos;
    const Names fetches = is_read_twice ? Names{"d", "n", "e"} : Names{"d", "n"};
    expect_kept(internal::fuse_relu, kNorm + d, fetches);
  }
}

// What follows a mean over pixels.
TEST(fuse_relu, keeps_slopes_of_gradients_that_are_broadcast) {
  for (const char* shape : {"[4, 1, 1, 8]", "[8]", "[]"})
    expect_kept(internal::fuse_relu, kInputs + str("%dy = placeholder() {shape=", shape, "}") + R"(
      %n = batch_norm_training(%x, %g, %b)
      %y = relu(%n)
      %s = relu_grad(%y, %dy)
      %d = batch_norm_training_grad(%x, %g, %b, %n:1, %n:2, %s))",
                {"d", "n"});
}

TEST(fuse_rounding, writes_bf16_at_once) {
  EXPECT_EQ(text_after(internal::fuse_rounding, kInputs + R"(
    %n = batch_norm_training(%x, %g, %b) {relu=true}
    %p = cast(%n) {dtype=bf16}
    %z = cast(%p))",
                       {"z"}),
            same_text(kInputs + R"(
    %n = batch_norm_training(%x, %g, %b) {relu=true, narrow=true}
    %z = cast(%n))",
                      {"z"}));
  EXPECT_EQ(text_after(internal::fuse_rounding, kInputs + kGradient + R"(
    %n = batch_norm_training_grad(%x, %g, %b, %g, %b, %dy)
    %p = cast(%n) {dtype=bf16}
    %z = cast(%p))",
                       {"z", "n:1"}),
            same_text(kInputs + kGradient + R"(
    %n = batch_norm_training_grad(%x, %g, %b, %g, %b, %dy) {narrow=true}
    %z = cast(%n))",
                      {"z", "n:1"}));
}

TEST(fuse_rounding, keeps_what_others_need_and_what_it_cannot_round) {
  const std::string norm = kInputs + "%n = batch_norm_training(%x, %g, %b)  ";
  expect_kept(internal::fuse_rounding, norm + "%p = cast(%n) {dtype=bf16}", {"p", "n"});
  expect_kept(internal::fuse_rounding, norm + "%p = cast(%n) {dtype=f64}", {"p"});
  expect_kept(internal::fuse_rounding, norm + "%p = cast(%n:1) {dtype=bf16}", {"p"});
  expect_kept(internal::fuse_rounding,
              "%x = placeholder() {shape=[4, 8, 6, 6]}\n%g = placeholder() {shape=[8]}\n"
              "%n = batch_norm_training(%x, %g, %g) {data_format=nchw}  %p = cast(%n) {dtype=bf16}",
              {"p"});
  expect_kept(internal::fuse_rounding, kInputs + "%n = max_pool(%x)  %p = cast(%n) {dtype=bf16}", {"p"});
}

TEST(fuse_rounding, takes_convolutions_with_nothing_after_their_sums) {
  const std::string in = R"(
    %x = placeholder() {dtype=bf16, shape=[4, 6, 6, 16]}
    %w = placeholder() {dtype=bf16, shape=[3, 3, 16, 16]}
    %b = placeholder() {shape=[16]}
)";
  EXPECT_EQ(text_after(internal::fuse_rounding,
                       in + "%c = conv2d(%x, %w) {widen=true}  %p = cast(%c) {dtype=bf16}  %z = cast(%p)", {"z", "b"}),
            same_text(in + "%c = conv2d(%x, %w) {widen=true, narrow=true}  %z = cast(%c)", {"z", "b"}));
  expect_kept(internal::fuse_rounding,
              in + "%c = conv2d(%x, %w, %b) {widen=true}  %p = cast(%c) {dtype=bf16}  %z = cast(%p)", {"z"});
}

// The gradient would find y without what was added to it.
TEST(fuse_relu, leaves_a_batch_norm_with_an_addend_alone) {
  expect_kept(internal::fuse_relu, kInputs + R"(
    %dy = placeholder() {shape=[4, 6, 6, 8]}
    %n = batch_norm_inference(%x, %g, %b, %b, %g, %dy)
    %y = relu(%n)
    %s = relu_grad(%y, %dy)
    %d = batch_norm_inference_grad(%x, %g, %b, %b, %g, %s))",
              {"d", "y"});
}

TEST(fuse_rounding, follows_relu) {
  PlanGraph plan = parse_plan(kInputs + R"(
    %n = batch_norm_training(%x, %g, %b)
    %y = relu(%n)
    %p = cast(%y) {dtype=bf16})",
                              {"p"});
  EXPECT_TRUE(fuse(plan));
  EXPECT_EQ(plan_text(plan),
            plan_text(parse_plan("%x = placeholder() {shape=[4, 6, 6, 8]}\n%g = placeholder() {shape=[8]}\n"
                                 "%b = placeholder() {shape=[8]}\n"
                                 "%n = batch_norm_training(%x, %g, %b) {relu=true, narrow=true}",
                                 {"n"})));
}

// A value that is wanted in both forms leaves its chain in both: first the one that can take the memory of an input.
TEST(fuse, rounds_the_result_of_a_chain) {
  EXPECT_EQ(text_after(fuse, R"(
    %x = placeholder() {shape=[4, 3]}
    %w = placeholder() {shape=[4, 3]}
    %a = add(%x, %w)
    %y = relu(%a)
    %p = cast(%y) {dtype=bf16}
    %q = cast(%p)
    %s = cumsum(%q))",
                       {"s", "y"}),
            plan_text(parse_plan(R"(
    %x = placeholder() {shape=[4, 3]}
    %w = placeholder() {shape=[4, 3]}
    %y = fused(%x, %w) {body=subgraph(%x, %w) -> (%y, %p) {
      %x = arg() {shape=[4, 3]}
      %w = arg() {shape=[4, 3]}
      %a = add(%x, %w)
      %y = relu(%a)
      %p = cast(%y) {dtype=bf16}
    }}
    %q = cast(%y:1)
    %s = cumsum(%q))",
                                 {"s", "y"})));
}

const std::string kImages = R"(
    %x = placeholder() {shape=[4, 12, 12, 1]}
    %w = placeholder() {shape=[3, 3, 1, 16]}
    %b = placeholder() {shape=[16]}
)";

TEST(fuse_pool, pools_a_convolution_of_few_channels) {
  EXPECT_EQ(text_after(internal::fuse_pool, kImages + R"(
    %y = conv2d(%x, %w, %b) {activation=relu}
    %p = max_pool(%y) {stride_h=3}
    %z = negative(%p))",
                       {"z"}),
            same_text(kImages + R"(
    %y = conv2d_max_pool(%x, %w, %b) {activation=relu, pool_stride_h=3}
    %z = negative(%y))",
                      {"z"}));
}

TEST(fuse_pool, keeps_what_others_need) {
  const auto kept = [](const std::string& nodes, const Names& fetches) {
    expect_kept(internal::fuse_pool, kImages + nodes, fetches);
  };
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y)", {"p", "y"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y)", {"p:1"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y)  %d = max_pool_grad(%p:1, %p) {image=[12, 12]}", {"d"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y)  %z = max_pool(%y)", {"p", "z"});
  kept("%y = conv2d(%x, %w)  %p = avg_pool(%y)", {"p"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y) {size_h=3, stride_h=2, stride_w=2}", {"p"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y) {data_format=nchw}", {"p"});
  kept("%y = conv2d(%x, %w)  %p = max_pool(%y) on(\"cpu:1\")", {"p"});
}

// The last of all ways to run a convolution.
struct LastOfAll : KernelChooser {
  bool wants_all() const override { return true; }
  size_t choose(const KernelPlan&, std::span<const KernelCandidate> all) override { return all.size() - 1; }
};

TEST(fuse_pool, leaves_convolutions_that_are_chosen_to_run_another_way) {
  LastOfAll chooser;
  const KernelChooserScope scope(&chooser);
  expect_kept(internal::fuse_pool, kImages + "%y = conv2d(%x, %w)  %p = max_pool(%y)", {"p"});
}

TEST(fuse_pool, leaves_convolutions_to_the_library_that_are_faster_there) {
  expect_kept(internal::fuse_pool, R"(
    %x = placeholder() {shape=[4, 12, 12, 16]}
    %w = placeholder() {shape=[3, 3, 16, 16]}
    %y = conv2d(%x, %w) {stride_h=2, stride_w=2}
    %p = max_pool(%y))",
              {"p"});
}

// Winograd's tiles have four windows of 2x2.
TEST(fuse_pool, pools_tiles) {
  if (cpu::host_isa() == cpu::Isa::v2) GTEST_SKIP() << "the library convolves at this level";
  const std::string images = R"(
    %x = placeholder() {shape=[4, 13, 12, 16]}
    %w = placeholder() {shape=[3, 3, 16, 16]}
)";
  expect_after(internal::fuse_pool, images + "%y = conv2d(%x, %w)  %p = max_pool(%y)  %z = negative(%p)", {"z"},
               images + "%y = conv2d_max_pool(%x, %w)  %z = negative(%y)");
  for (const char* windows : {"{padding=same}", "{size_h=3, stride_h=3}", "{stride_w=4}", "{pad_left=1}"})
    expect_kept(internal::fuse_pool, images + "%y = conv2d(%x, %w)  %p = max_pool(%y) " + windows, {"p"});
}

}  // namespace
}  // namespace martello
