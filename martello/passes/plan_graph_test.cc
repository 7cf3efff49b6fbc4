#include <martello/base/internal/test_text.h>
#include <martello/passes/internal/pass_test.h>

#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>

#include <gtest/gtest.h>

#include <chrono>

namespace martello {
namespace {

using namespace testing;

TEST(extract, takes_what_the_fetches_need) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x"), y = exp(x, "y");
  sqrt(x, "unneeded");
  const PlanGraph plan = extract(scope.graph(), {y}, {}, {x}, {Shape(5, 3)});
  EXPECT_EQ(plan_text(plan), same_text("%x = placeholder() {shape=[5, 3]}  %y = exp(%x)", {"y"}));
  EXPECT_EQ(plan.feeds[0].name(), "x");
}

TEST(extract, cuts_off_what_lies_behind_a_fed_tensor) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), y = exp(x, "y"), z = sqrt(y, "z");
  const PlanGraph plan = extract(scope.graph(), {z, y}, {}, {y}, {Shape(2)});
  EXPECT_EQ(plan_text(plan), same_text("%y = placeholder() {shape=[2]}  %z = sqrt(%y)", {"z", "y"}));
}

TEST(extract, leaves_the_graph_as_it_was) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown}, f32, "x"), y = exp(x, "y");
  const std::string before = scope.graph().text();
  PlanGraph plan = extract(scope.graph(), {y}, {}, {x}, {Shape(2)});
  run_passes(plan, {});
  EXPECT_EQ(scope.graph().text(), before);
}

TEST(extract, knows_whether_the_whole_graph_has_several_devices) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), y = exp(x, "y");
  EXPECT_TRUE(extract(scope.graph(), {y}, {}, {x}, {Shape(2)}).has_one_device);
  const DeviceScope other("cpu:1");
  sqrt(x, "unneeded");
  EXPECT_FALSE(extract(scope.graph(), {y}, {}, {x}, {Shape(2)}).has_one_device);
}

TEST(extract, refuses_a_placeholder_without_value) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x"), y = exp(x, "y");
  const std::string text = error_of<InvalidArgument>([&] { extract(scope.graph(), {y}, {}, {}, {}); });
  EXPECT_CONTAINS(text, "[placeholder 'x']");
}

TEST(prune, drops_nodes_and_forgets_their_feeds) {
  PlanGraph plan = parse_plan("%x = placeholder() {shape=[2]}  %u = placeholder() {shape=[2]}  %y = exp(%x)", {"y"});
  EXPECT_TRUE(prune(plan));
  EXPECT_EQ(plan_text(plan), same_text("%x = placeholder() {shape=[2]}  %y = exp(%x)", {"y"}));
  EXPECT_FALSE(plan.feeds[0].is_null());
  EXPECT_TRUE(plan.feeds[1].is_null());
  EXPECT_FALSE(prune(plan));
}

TEST(replace_uses, reaches_inputs_and_fetches) {
  PlanGraph plan = parse_plan("%x = placeholder() {shape=[2]}  %a = exp(%x)  %y = add(%a, %a)", {"y", "a"});
  plan.replace_uses(plan.graph.get_tensor("a"), plan.graph.get_tensor("x"));
  prune(plan);
  EXPECT_EQ(plan_text(plan), same_text("%x = placeholder() {shape=[2]}  %y = add(%x, %x)", {"y", "x"}));
}

TEST(users, counts_each_use) {
  const PlanGraph plan = parse_plan("%x = placeholder() {shape=[2]}  %a = exp(%x)  %y = add(%a, %a)", {"y"});
  const Users users(plan);
  EXPECT_EQ(users.of(plan.graph.get_tensor("a")).size(), 2u);
  EXPECT_EQ(users.of(plan.graph.get_tensor("y")).size(), 0u);
  EXPECT_TRUE(users.is_fetched(plan.graph.get_tensor("y")));
  EXPECT_FALSE(users.is_fetched(plan.graph.get_tensor("a")));
}

TEST(run_passes, refuses_names_it_does_not_know) {
  PlanGraph plan = parse_plan("%x = placeholder() {shape=[2]}", {"x"});
  EXPECT_THROW(run_passes(plan, {"simplfy"}), InvalidArgument);
  EXPECT_THROW(run_passes(plan, {"place"}), InvalidArgument);
}

// Two ways to write a step become one plan.
TEST(run_passes, makes_equal_work_one_graph) {
  const auto planned = [](const std::string& nodes) {
    PlanGraph plan =
        parse_plan("%x = placeholder() {shape=[4, 3]}\n%w = placeholder() {shape=[3, 5]}\n" + nodes, {"y"});
    run_passes(plan, {});
    return plan_text(plan);
  };
  EXPECT_EQ(planned("%a = matmul(%x, %w)  %y = relu(%a)"),
            planned(R"(%t = transpose(%x)  %i = identity(%t)  %one = constant() {value=f32[](1)}
                       %s = multiply(%i, %one)  %a = matmul(%s, %w) {transpose_a=true}
                       %shape = shape(%a)  %r = reshape(%a, %shape)  %y = relu(%r))"));
}

double milliseconds_of(PlanGraph& plan, const char* what) {
  const size_t nodes = plan.graph.size();
  double total = 0;
  for (const PassRun& run : run_passes(plan, {})) {
    std::printf("%s, %zu nodes: %-14s %7.2f ms\n", what, nodes, std::string(run.name).c_str(), run.milliseconds);
    total += run.milliseconds;
  }
  std::printf("%s: %.1f ms in all, %zu nodes left\n", what, total, plan.graph.size());
  return total;
}

TEST(run_passes, plans_a_chain_of_ten_thousand_nodes_in_time) {
  GraphScope scope;
  const Tensor x = placeholder({64, 64}, f32, "x");
  Tensor y = x;
  for (int i = 0; i < 2500; ++i) y = matmul(tanh(y * 0.5), x);
  PlanGraph plan = extract(scope.graph(), {reduce_sum(y)}, {}, {x}, {Shape(64, 64)});
  EXPECT_GT(plan.graph.size(), 10000u);
  EXPECT_LT(milliseconds_of(plan, "chain"), 2000);
}

TEST(run_passes, plans_a_chain_of_element_wise_nodes_in_time) {
  GraphScope scope;
  const Tensor x = placeholder({64, 64}, f32, "x");
  Tensor y = x;
  for (int i = 0; i < 10000; ++i) y = i % 2 ? tanh(y) : y * x;
  PlanGraph plan = extract(scope.graph(), {y}, {}, {x}, {Shape(64, 64)});
  EXPECT_LT(milliseconds_of(plan, "element-wise chain"), 2000);
}

TEST(run_passes, plans_a_wide_graph_of_ten_thousand_nodes_in_time) {
  GraphScope scope;
  const Tensor x = placeholder({8, 8}, f32, "x"), shared = exp(x);
  std::vector<Tensor> row, fetches;
  for (int i = 0; i < 100; ++i) row.push_back(shared * (i + 2));
  for (int layer = 0; layer < 50; ++layer) {
    std::vector<Tensor> next;
    for (size_t i = 0; i < row.size(); ++i) next.push_back(tanh(row[i] + row[(i + 1) % row.size()]));
    row = next;
  }
  for (const Tensor& t : row) fetches.push_back(reduce_sum(t));
  PlanGraph plan = extract(scope.graph(), fetches, {}, {x}, {Shape(8, 8)});
  EXPECT_LT(milliseconds_of(plan, "wide"), 2000);
}

}  // namespace
}  // namespace martello
