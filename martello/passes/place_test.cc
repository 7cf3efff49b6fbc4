#include <martello/base/internal/test_text.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

TEST(place, gives_every_node_a_device) {
  EXPECT_EQ(text_after(place, "%x = placeholder() {shape=[2]}  %y = exp(%x)", {"y"}),
            same_text("%x = placeholder() {shape=[2]} on(\"cpu:0\")  %y = exp(%x) on(\"cpu:0\")", {"y"}));
}

TEST(place, copies_a_value_once_per_device) {
  EXPECT_EQ(text_after(place, R"(
    %x = placeholder() {shape=[2]}
    %a = exp(%x) on("cpu:1")
    %b = sqrt(%x) on("cpu:1")
    %y = add(%a, %b))",
                       {"y"}),
            same_text(R"(
    %x = placeholder() {shape=[2]} on("cpu:0")
    %a = exp(%x_to_cpu1) on("cpu:1")
    %b = sqrt(%x_to_cpu1) on("cpu:1")
    %y = add(%a_to_cpu0, %b_to_cpu0) on("cpu:0")
    %x_to_cpu1 = copy(%x) on("cpu:1")
    %a_to_cpu0 = copy(%a) on("cpu:0")
    %b_to_cpu0 = copy(%b) on("cpu:0"))",
                      {"y"}));
}

TEST(place, writes_where_the_variable_is) {
  PlanGraph plan = parse_plan(R"(
    %x = placeholder() {shape=[2]}
    %v = variable() {shape=[2], initializer=subgraph() -> (%zeros) {
      initializer
      %zeros = fill() {shape=[2]}
    }} on("cpu:2")
    %assign = assign(%v, %x))",
                              {});
  plan.targets = {plan.graph.get_operation("assign")};
  EXPECT_TRUE(place(plan));
  const OpNode& assign = *plan.targets[0].node();
  EXPECT_EQ(assign.device, "cpu:2");
  EXPECT_EQ(assign.inputs[0].name(), "v");
  EXPECT_EQ(assign.inputs[1].name(), "x_to_cpu2");
}

TEST(place, refuses_devices_that_are_not_there) {
  const std::string far =
      error_of([] { text_after(place, "%x = placeholder() {shape=[2]}  %y = exp(%x) on(\"cpu:64\")", {"y"}); });
  EXPECT_CONTAINS(far, "'cpu:64'");
  EXPECT_CONTAINS(far, "64 virtual devices");
  const std::string cuda =
      error_of([] { text_after(place, "%x = placeholder() {shape=[2]}  %y = top_k(%x) {k=1} on(\"cuda:0\")", {"y"}); });
  EXPECT_CONTAINS(cuda, "CPU only");
  EXPECT_CONTAINS(cuda, "DeviceScope");
}

}  // namespace
}  // namespace martello
