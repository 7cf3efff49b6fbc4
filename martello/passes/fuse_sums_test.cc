#include <martello/kernel/cpu/isa.h>
#include <martello/passes/internal/fuse.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using internal::fuse_sums;

const std::string kInputs = R"(
    %x = placeholder() {shape=[4, 16, 16, 32]}
    %r = placeholder() {shape=[4, 16, 16, 32]}
    %g = placeholder() {shape=[32]}
    %b = placeholder() {shape=[32]}
)";
const std::string kImages = R"(
    %x = placeholder() {shape=[4, 16, 16, 32]}
    %r = placeholder() {shape=[4, 16, 16, 32]}
    %w = placeholder() {shape=[3, 3, 32, 32]}
)";

TEST(fuse_sums, gives_batch_norm_what_is_added_and_relu) {
  expect_after(fuse_sums, kInputs + "%n = batch_norm_training(%x, %g, %b)  %s = add(%n, %r)  %z = negative(%s)",
               {"z", "n:1"}, kInputs + "%n = batch_norm_training(%x, %g, %b, %r)  %z = negative(%n)");
  expect_after(
      fuse_sums,
      kInputs + "%n = batch_norm_inference(%x, %g, %b, %b, %g)  %s = add(%r, %n)  %y = relu(%s)  %z = negative(%y)",
      {"z"}, kInputs + "%n = batch_norm_inference(%x, %g, %b, %b, %g, %r) {relu=true}  %z = negative(%n)");
}

TEST(fuse_sums, gives_products_what_is_added) {
  const std::string in = R"(
    %x = placeholder() {shape=[2, 8, 5]}
    %w = placeholder() {shape=[5, 3]}
    %r = placeholder() {shape=[2, 8, 3]}
)";
  const std::string bias = "%b = placeholder() {shape=[3]}  ";
  expect_after(fuse_sums, in + "%m = matmul(%x, %w)  %s = add(%m, %r)  %z = negative(%s)", {"z"},
               in + "%m = matmul(%x, %w, %r)  %z = negative(%m)");
  expect_after(fuse_sums, in + "%m = matmul(%x, %w)  %s = add(%m, %r)  %y = relu(%s)  %z = negative(%y)", {"z"},
               in + "%m = matmul(%x, %w, %r)  %y = relu(%m)  %z = negative(%y)");
  expect_after(fuse_sums, in + bias + "%m = linear(%x, %w, %b)  %s = add(%r, %m)  %y = relu(%s)  %z = negative(%y)",
               {"z"}, in + bias + "%m = linear(%x, %w, %b, %r) {activation=relu}  %z = negative(%m)");
}

TEST(fuse_sums, gives_convolutions_of_our_loops_what_is_added) {
  if (cpu::host_isa() == cpu::Isa::v2) GTEST_SKIP() << "the library convolves at this level";
  expect_after(fuse_sums, kImages + "%c = conv2d(%x, %w)  %s = add(%c, %r)  %y = relu(%s)  %z = negative(%y)", {"z"},
               kImages + "%c = conv2d(%x, %w, %r) {activation=relu}  %z = negative(%c)");
  const std::string bias = "%b = placeholder() {shape=[32]}  ";
  expect_after(fuse_sums, kImages + bias + "%c = conv2d(%x, %w, %b)  %s = add(%c, %r)  %z = negative(%s)", {"z"},
               kImages + bias + "%c = conv2d(%x, %w, %b, %r)  %z = negative(%c)");
}

TEST(fuse_sums, leaves_convolutions_of_the_library_alone) {
  expect_kept(fuse_sums, R"(
    %x = placeholder() {shape=[4, 16, 16, 32]}
    %w = placeholder() {shape=[3, 3, 32, 32]}
    %r = placeholder() {shape=[4, 8, 8, 32]}
    %c = conv2d(%x, %w) {stride_h=2, stride_w=2}
    %s = add(%c, %r))",
              {"s"});
}

// A product of the library is followed by a pass of ours anyway, which a chain makes with all that comes after the sum.
TEST(fuse_sums, leaves_products_of_the_library_alone) {
  const std::string in = R"(
    %x = placeholder() {shape=[256, 256]}
    %w = placeholder() {shape=[256, 256]}
    %r = placeholder() {shape=[256, 256]}
    %b = placeholder() {shape=[256]}
)";
  expect_kept(fuse_sums, in + "%m = matmul(%x, %w)  %s = add(%m, %r)  %y = tanh(%s)", {"y", "b"});
  expect_kept(fuse_sums, in + "%m = linear(%x, %w, %b)  %s = add(%m, %r)  %y = tanh(%s)", {"y"});
}

// With an addend a product has no rows that depend on data, neither in its result nor in its sums.
TEST(fuse_sums, leave_rows_that_depend_on_data_alone) {
  const std::string in = R"(
    %a = placeholder() {shape=[4, 3]}
    %x = placeholder() {shape=[3, 5]}
    %c = placeholder() {dtype=bool, shape=[3]}
    %k = boolean_mask(%x, %c)
)";
  expect_kept(fuse_sums, in + "%r = placeholder() {shape=[4, 5]}  %m = matmul(%a, %k)  %s = add(%m, %r)", {"s"});
  expect_kept(fuse_sums,
              in + "%r = placeholder() {shape=[3, 4]}  %w = placeholder() {shape=[5, 4]}  %m = matmul(%k, %w)  "
                   "%s = add(%m, %r)",
              {"s", "a"});
}

// The batch norm's statistics would have to wait for the read.
TEST(fuse_sums, leave_values_of_a_later_stage_alone) {
  const std::string v = "%v = variable() {shape=[4, 16, 16, 32]}  %r = read_variable(%v)  ";
  const std::string x = "%x = placeholder() {shape=[4, 16, 16, 32]}  %g = placeholder() {shape=[32]}  ";
  expect_kept(fuse_sums, x + v + "%n = batch_norm_training(%x, %g, %g)  %s = add(%n, %r)  %z = negative(%s)",
              {"z", "n:1"});
}

// Two devices work side by side until the sum.
TEST(fuse_sums, leave_values_of_another_device_alone) {
  expect_kept(fuse_sums,
              kInputs +
                  "%t = max_pool(%r) {size_h=1, size_w=1} on(\"cpu:1\")  "
                  "%n = batch_norm_training(%x, %g, %b)  %s = add(%n, %t)",
              {"s"});
}

// The later of two terms has the other one when it runs; a convolution waits for it, a batch norm cannot always.
TEST(fuse_sums, choose_the_term_that_takes_the_other) {
  const std::string m = "%m = batch_norm_training(%r, %b, %g)  ", n = "%n = batch_norm_training(%x, %g, %b)  ";
  expect_after(fuse_sums, kInputs + m + n + "%s = add(%m, %n)  %z = negative(%s)", {"z"},
               kInputs + m + "%n = batch_norm_training(%x, %g, %b, %m)  %z = negative(%n)");
  expect_kept(fuse_sums, kInputs + n + "%p = max_pool(%r) {size_h=1, size_w=1}  %s = add(%n, %p)", {"s"});
  expect_kept(fuse_sums,
              kInputs + n +
                  "%v = reshape(%n:1) {shape=[1, 1, 1, 32]}  %o = broadcast_to(%v) "
                  "{shape=[4, 16, 16, 32]}  %c = cumsum(%o)  %s = add(%n, %c)",
              {"s"});
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_after(fuse_sums,
               kImages +
                   "%c = conv2d(%x, %w)  %p = max_pool(%r) {size_h=1, size_w=1}  %s = add(%c, %p)  "
                   "%z = negative(%s)",
               {"z"}, kImages + "%p = max_pool(%r) {size_h=1, size_w=1}  %c = conv2d(%x, %w, %p)  %z = negative(%c)");
}

TEST(fuse_sums, of_a_chain_of_blocks) {
  expect_after(fuse_sums, kInputs + R"(
    %n = batch_norm_training(%x, %g, %b)
    %s = add(%n, %r)
    %y = relu(%s)
    %m = batch_norm_training(%y, %b, %g)
    %t = add(%y, %m)
    %u = relu(%t)
    %z = negative(%u))",
               {"z"}, kInputs + R"(
    %n = batch_norm_training(%x, %g, %b, %r) {relu=true}
    %m = batch_norm_training(%n, %b, %g, %n) {relu=true}
    %z = negative(%m))");
}

TEST(fuse_sums, keep_what_others_need) {
  const std::string n = kInputs + "%n = batch_norm_training(%x, %g, %b)  ";
  expect_kept(fuse_sums, n + "%s = add(%n, %r)", {"s", "n"});
  expect_kept(fuse_sums, n + "%s = add(%n, %r)  %z = multiply(%s, %n)", {"z"});
  expect_kept(fuse_sums, n + "%s = add(%n, %n)", {"s", "r"});
  expect_kept(fuse_sums, n + "%s = add(%n, %b)", {"s", "r"});
  expect_kept(fuse_sums, n + "%s = add(%n:1, %b)", {"s", "r"});
  expect_kept(fuse_sums, n + "%s = add(%n, %r) after(%r)", {"s"});
  expect_kept(fuse_sums, n + "%s = add(%n, %r) on(\"cpu:1\")", {"s"});
  expect_kept(fuse_sums, n + "%s = multiply(%n, %r)", {"s"});
  expect_kept(fuse_sums, kInputs + "%n = batch_norm_training(%x, %g, %b) {relu=true}  %s = add(%n, %r)", {"s"});
  // A relu that somebody else sees before.
  EXPECT_EQ(text_after(fuse_sums, n + "%s = add(%n, %r)  %y = relu(%s)", {"y", "s"}),
            same_text(kInputs + "%n = batch_norm_training(%x, %g, %b, %r)  %y = relu(%n)", {"y", "n"}));
}

TEST(fuse_sums, leave_chains_together) {
  const std::string chain = "%n = batch_norm_training(%x, %g, %b)  %t = tanh(%r)  %e = exp(%t)  %s = add(%n, %e)";
  expect_kept(fuse_sums, kInputs + chain, {"s"});
  expect_after(fuse_sums,
               kInputs +
                   "%t = tanh(%r)  %n = batch_norm_training(%x, %g, %b)  %s = add(%n, %t)  "
                   "%z = multiply(%s, %t)",
               {"z"}, kInputs + "%t = tanh(%r)  %n = batch_norm_training(%x, %g, %b, %t)  %z = multiply(%n, %t)");
}

}  // namespace
}  // namespace martello
