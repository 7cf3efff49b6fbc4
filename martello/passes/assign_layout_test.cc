#include <martello/ops/internal/conv_library.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using internal::ConvDirection;

const std::string kX = "%x = placeholder() {shape=[8, 8, 8, 32]}\n", kW = "%w = placeholder() {shape=[3, 3, 32, 64]}\n";
const std::string kDy = "%dy = placeholder() {shape=[8, 4, 4, 64]}\n", kB = "%b = placeholder() {shape=[64]}\n";

void expect_layout(const std::string& before, const std::string& after, const std::string& fetch) {
  EXPECT_EQ(sorted_lines(text_after(assign_layout, before, {fetch})), sorted_lines(same_text(after, {fetch})));
}

// How many numbers a packed kernel has is the library's business.
std::string packing(ConvDirection direction) {
  const internal::ConvProblem problem("", {.shape = {8, 8, 8, 32}, .dtype = f32}, {3, 3, 32, 64}, {.stride = 2});
  const auto p = internal::find_packing({"y", "conv2d"}, problem, direction, 1);
  EXPECT_TRUE(p.is_packed());
  return str("packed_kernel=[3, 3, 32, 64], packed_elements=", p.elements);
}

std::string reorder(ConvDirection direction) {
  return str("direction=", enum_names(direction)[static_cast<size_t>(direction)],
             ", stride_h=2, stride_w=2, x=[8, 8, 8, 32], ", packing(direction));
}

TEST(assign_layout, packs_the_kernel_of_a_convolution) {
  const std::string in = kX + kW + kB, attrs = "stride_h=2, stride_w=2, activation=relu";
  expect_layout(in + "%y = conv2d(%x, %w, %b) {" + attrs + "}",
                in + "%y/packed_kernel = reorder(%w) {" + reorder(ConvDirection::forward) +
                    "}\n%y = conv2d(%x, %y/packed_kernel, %b) {" + attrs + ", " + packing(ConvDirection::forward) + "}",
                "y");
}

TEST(assign_layout, packs_the_kernel_of_a_gradient) {
  const std::string in = kW + kDy, attrs = "stride_h=2, stride_w=2", shape = ", shape=[8, 8, 8, 32], ";
  expect_layout(
      in + "%s = constant() {value=i64[4](8, 8, 8, 32)}\n%dx = conv2d_grad_input(%dy, %w, %s) {" + attrs + "}",
      in + "%dx/packed_kernel = reorder(%w) {" + reorder(ConvDirection::grad_input) +
          "}\n%dx = conv2d_grad_input(%dy, %dx/packed_kernel) {" + attrs + shape + packing(ConvDirection::grad_input) +
          "}",
      "dx");
}

TEST(assign_layout, unpacks_the_gradient_of_a_kernel) {
  const std::string in = kX + kDy, attrs = "stride_h=2, stride_w=2, ";
  expect_layout(in + "%dw = conv2d_grad_kernel(%x, %dy) {" + attrs + "shape=[3, 3, 32, 64]}",
                in + "%dw/packed = conv2d_grad_kernel(%x, %dy) {" + attrs + packing(ConvDirection::grad_kernel) +
                    "}\n%dw = reorder(%dw/packed) {" + reorder(ConvDirection::grad_kernel) + "}",
                "dw");
}

// See Note [Convolution as a product].
TEST(assign_layout, leaves_kernels_alone_that_a_product_takes_as_they_are) {
  const std::string x = "%x = placeholder() {shape=[1, 7, 7, 64]}\n",
                    dy = "%dy = placeholder() {shape=[1, 7, 7, 128]}\n";
  for (const std::string& text : {x + "%w = placeholder() {shape=[1, 1, 64, 128]}\n%y = conv2d(%x, %w)",
                                  x + dy + "%y = conv2d_grad_kernel(%x, %dy) {shape=[1, 1, 64, 128]}",
                                  x + dy + "%y = conv2d_grad_kernel(%x, %dy) {shape=[5, 5, 64, 128]}"})
    expect_layout(text, text, "y");
}

int count(const PlanGraph& plan, std::string_view op) {
  int n = 0;
  for (const auto& node : plan.impl().nodes) n += node->def->name == op;
  return n;
}

TEST(assign_layout, shares_a_kernel_that_two_convolutions_want_alike) {
  const std::string z = "%z = placeholder() {shape=[8, 8, 8, 32]}\n";
  PlanGraph plan = parse_plan(kX + kW + z + R"(
    %y = conv2d(%x, %w) {stride_h=2, stride_w=2}
    %v = conv2d(%z, %w) {stride_h=2, stride_w=2}
    %u = conv2d(%z, %w) {dilation_h=2, dilation_w=2})",
                              {"y", "v", "u"});
  EXPECT_TRUE(assign_layout(plan));
  EXPECT_EQ(count(plan, "reorder"), 2);
  EXPECT_FALSE(assign_layout(plan));
}

TEST(assign_layout, leaves_alone_what_the_library_does_not_compute) {
  for (const char* text : {"%x = placeholder() {shape=[8, 8, 8, 32], dtype=f64}\n"
                           "%w = placeholder() {shape=[3, 3, 32, 64], dtype=f64}\n%y = conv2d(%x, %w)",
                           "%x = placeholder() {shape=[0, 8, 8, 32]}\n"
                           "%w = placeholder() {shape=[3, 3, 32, 64]}\n%y = conv2d(%x, %w)"}) {
    PlanGraph plan = parse_plan(text, {"y"});
    EXPECT_FALSE(assign_layout(plan)) << text;
  }
}

}  // namespace
}  // namespace martello
