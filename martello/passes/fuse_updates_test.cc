#include <martello/graph/kernel_choice.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/passes/internal/fuse.h>
#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

class FuseUpdates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cpu::host_isa() != cpu::Isa::v4) GTEST_SKIP() << "the library makes such products at this level";
  }
};

const std::string kState = R"(
    %rate = placeholder() {shape=[]}
    %a = placeholder() {shape=[900, 300]}
    %b = placeholder() {shape=[900, 1100]}
    %v = placeholder() {shape=[7]}
    %w = variable() {shape=[300, 1100]}
    %u = variable() {shape=[7]}
    %w_m = variable() {shape=[300, 1100]}
    %u_m = variable() {shape=[7]}
)";
const std::string kProduct = "%g = matmul(%a, %b) {transpose_a=true}\n";

std::string update(const std::string& gradients, const std::string& attrs) {
  return "%t = optimizer_update(%rate, " + gradients + ", %w, %u, %w_m, %u_m) {rule=momentum, count=2" + attrs + "}\n";
}

PlanGraph plan_of(const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(kState + text, fetches);
  plan.targets = {plan.graph.get_operation("t")};
  return plan;
}
std::string text_after_fusing(const std::string& text, const Names& fetches = {}) {
  PlanGraph plan = plan_of(text, fetches);
  internal::fuse_updates(plan);
  verify(plan.graph);
  return plan_text(plan);
}
void expect_kept(const std::string& text, const Names& fetches = {}) {
  EXPECT_EQ(text_after_fusing(text, fetches), plan_text(plan_of(text, fetches)));
}

TEST_F(FuseUpdates, give_an_update_the_factors_of_its_gradient) {
  EXPECT_EQ(text_after_fusing(kProduct + update("%g, %v", "")),
            plan_text(plan_of(update("%a, %b, %v", ", products=[0]"), {})));
}
TEST_F(FuseUpdates, keep_what_others_need) {
  expect_kept(kProduct + update("%g, %v", ""), {"g"});
  expect_kept(kProduct + "%n = negative(%g)\n" + update("%g, %v", ""), {"n"});
}
TEST_F(FuseUpdates, keep_products_that_the_library_makes) {
  expect_kept(
      "%c = placeholder() {shape=[20, 300]}  %d = placeholder() {shape=[20, 1100]}  %g = matmul(%c, %d) "
      "{transpose_a=true}\n" +
      update("%g, %v", ""));
  expect_kept("%c = placeholder() {shape=[300, 900]}  %g = matmul(%c, %b)\n" + update("%g, %v", ""));
}
TEST_F(FuseUpdates, keep_products_of_variables) {
  expect_kept(
      "%x = variable() {shape=[900, 300]}  %r = reshape(%x) {shape=[900, 300]}  %g = matmul(%r, %b) "
      "{transpose_a=true}\n" +
      update("%g, %v", ""));
}
TEST_F(FuseUpdates, keep_gradients_of_a_graph_with_several_devices) {
  const std::string text = kProduct + update("%g, %v", "");
  PlanGraph plan = plan_of(text, {});
  plan.has_one_device = false;
  EXPECT_FALSE(internal::fuse_updates(plan));
}
TEST_F(FuseUpdates, keep_products_that_may_be_chosen_by_timing) {
  struct Chooser : KernelChooser {
    bool wants_all() const override { return true; }
    size_t choose(const KernelPlan&, std::span<const KernelCandidate>) override { return 0; }
  } chooser;
  const KernelChooserScope scope(&chooser);
  expect_kept(kProduct + update("%g, %v", ""));
}
TEST_F(FuseUpdates, keep_rules_that_look_twice) {
  const std::string text = kProduct + R"(
    %s = variable() {shape=[], dtype=i64}
    %w_v = variable() {shape=[300, 1100]}
    %t = optimizer_update(%rate, %s, %g, %w, %w_m, %w_v) {rule=lamb, count=1})";
  expect_kept(text);
}

}  // namespace
}  // namespace martello
