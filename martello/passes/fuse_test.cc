#include <martello/passes/internal/pass_test.h>

#include <martello/graph/subgraph.h>
#include <martello/ops/fused.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

// "b = fused(x, y) [a = add, b = exp] -> b", one line per node that is not a placeholder or constant.
std::string summary(const PlanGraph& plan) {
  std::string text;
  for (OpNode* node : topological_order(plan.impl())) {
    if (node->def == &op_placeholder || node->def == &op_constant) continue;
    std::vector<std::string> inputs, body, outputs;
    for (const Tensor& t : node->inputs) inputs.push_back(t.name());
    text += str(node->name, " = ", node->def->name, "(", join(inputs), ")");
    if (node->attrs.is<FusedAttrs>()) {
      const Subgraph& inner = node->attrs.get<FusedAttrs>().body;
      for (const Operation& op : inner.graph().operations())
        if (op.node()->def != &op_arg && op.node()->def != &op_constant) body.push_back(op.name());
      for (const Tensor& t : inner.outputs()) outputs.push_back(t.name());
      text += str(" [", join(body), "] -> ", join(outputs));
    }
    text += "\n";
  }
  return text;
}

std::string fused_summary(const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(text, fetches);
  fuse(plan);
  verify(plan.graph);
  return summary(plan);
}

const std::string kX = "%x = placeholder() {shape=[2, 3]}\n%w = placeholder() {shape=[2, 3]}\n";

TEST(fuse, makes_a_chain_one_node) {
  EXPECT_EQ(text_after(fuse, R"(
    %x = placeholder() {shape=[2, 3]}
    %b = placeholder() {shape=[3]}
    %half = constant() {value=f32[](0.5)}
    %sum = add(%x, %b)
    %scaled = multiply(%sum, %half)
    %y = tanh(%scaled))",
                       {"y"}),
            same_text(R"(
    %x = placeholder() {shape=[2, 3]}
    %b = placeholder() {shape=[3]}
    %y = fused(%x, %b) {body=subgraph(%x, %b) -> (%y) {
      %x = arg() {shape=[2, 3]}
      %b = arg() {shape=[3]}
      %sum = add(%x, %b)
      %half = constant() {value=f32[](0.5)}
      %scaled = multiply(%sum, %half)
      %y = tanh(%scaled)
    }})",
                      {"y"}));
}

TEST(fuse, leaves_single_nodes_alone) { EXPECT_EQ(fused_summary(kX + "%y = exp(%x)", {"y"}), "y = exp(x)\n"); }

TEST(fuse, gives_values_that_others_need_as_more_outputs) {
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %b = sqrt(%a)  %c = sin(%b)", {"c", "a"}),
            "c = fused(x) [a, b, c] -> c, a\n");
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %b = sqrt(%a)  %c = sin(%a)", {"b", "c"}),
            "c = fused(x) [a, b, c] -> c, b\n");
}

TEST(fuse, keeps_a_value_of_another_shape_outside) {
  EXPECT_EQ(fused_summary(
                "%s = placeholder() {shape=[3]}\n" + kX + "%t = exp(%s)  %u = sqrt(%t)  %a = add(%x, %u)  %y = sin(%a)",
                {"y"}),
            "u = fused(s) [t, u] -> u\ny = fused(x, u) [a, y] -> y\n");
}

TEST(fuse, never_makes_a_cycle) {
  // a leaves the group through cumsum and would come back by c.
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %m = cumsum(%a)  %b = sqrt(%a)  %c = add(%b, %m)", {"c"}),
            "a = exp(x)\nm = cumsum(a)\nc = fused(a, m) [b, c] -> c\n");
  // Two groups that would need each other.
  const std::string crossed = fused_summary(
      kX + "%a = exp(%x)  %b = exp(%w)  %ca = cumsum(%a)  %cb = cumsum(%b)  %y = add(%a, %cb)  %z = add(%b, %ca)",
      {"y", "z"});
  EXPECT_EQ(crossed.find("fused"), std::string::npos) << crossed;
}

TEST(fuse, takes_a_reduction_of_the_result) {
  EXPECT_EQ(
      text_after(fuse, kX + "%d = subtract(%x, %w)  %s = square(%d)  %loss = reduce_mean(%s) {axes=[1]}", {"loss"}),
      same_text(kX + R"(%loss = fused_reduce(%x, %w) {body=subgraph(%x, %w) -> (%s) {
                %x = arg() {shape=[2, 3]}
                %w = arg() {shape=[2, 3]}
                %d = subtract(%x, %w)
                %s = square(%d)
              }, reduction=mean, axes=[1]})",
                {"loss"}));
  EXPECT_EQ(fused_summary(kX + "%s = square(%x)  %sum = reduce_sum(%s)", {"sum"}), "sum = fused_reduce(x) [s] -> s\n");
}

TEST(fuse, reduces_a_value_that_others_read_by_itself) {
  EXPECT_EQ(fused_summary(kX + "%s = square(%x)  %sum = reduce_sum(%s)", {"sum", "s"}),
            "s = square(x)\nsum = reduce_sum(s)\n");
  EXPECT_EQ(fused_summary(kX + "%sum = reduce_sum(%x)", {"sum"}), "sum = reduce_sum(x)\n");
}

TEST(fuse, keeps_dtypes_and_devices_apart) {
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %d = cast(%a) {dtype=f64}  %e = exp(%d)  %f = sqrt(%e)", {"f"}),
            "a = exp(x)\nd = cast(a)\nf = fused(d) [e, f] -> f\n");
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %b = sqrt(%a) on(\"cpu:1\")", {"b"}), "a = exp(x)\nb = sqrt(a)\n");
  EXPECT_EQ(fused_summary(kX + "%c = greater(%x, %w)  %y = where(%c, %x, %w)", {"y"}), "y = fused(x, w) [c, y] -> y\n");
}

TEST(fuse, leaves_nodes_with_control_edges_alone) {
  EXPECT_EQ(fused_summary(kX + "%a = exp(%x)  %b = sqrt(%a) after(%w)  %c = sin(%b)", {"c"}),
            "a = exp(x)\nb = sqrt(a)\nc = sin(b)\n");
}

TEST(fuse, makes_linear_of_product_bias_and_relu) {
  const std::string in = R"(
    %x = placeholder() {shape=[4, 3]}
    %w = placeholder() {shape=[5, 3]}
    %b = placeholder() {shape=[5]}
    %m = matmul(%x, %w) {transpose_b=true}
  )";
  EXPECT_EQ(fused_summary(in + "%a = add(%m, %b)  %y = relu(%a)", {"y"}), "y = linear(x, w, b)\n");
  EXPECT_EQ(fused_summary(in + "%a = add(%b, %m)  %y = relu(%a)", {"y", "a"}), "a = linear(x, w, b)\ny = relu(a)\n");
  EXPECT_EQ(fused_summary(in + "%a = add(%m, %b)", {"a", "m"}), "m = matmul(x, w)\na = add(m, b)\n");
  EXPECT_EQ(text_after(fuse, in + "%a = add(%m, %b)  %y = relu(%a)", {"y"}), same_text(R"(
    %x = placeholder() {shape=[4, 3]}
    %w = placeholder() {shape=[5, 3]}
    %b = placeholder() {shape=[5]}
    %y = linear(%x, %w, %b) {transpose_w=true, activation=relu})",
                                                                                       {"y"}));
}

TEST(fuse, gives_a_convolution_its_bias_and_relu) {
  const std::string in = R"(
    %x = placeholder() {shape=[2, 8, 8, 3]}
    %w = placeholder() {shape=[3, 3, 3, 8]}
    %b = placeholder() {shape=[8]}
  )";
  EXPECT_EQ(text_after(fuse, in + "%m = conv2d(%x, %w) {stride_h=2}  %a = add(%m, %b)  %y = relu(%a)", {"y"}),
            same_text(in + "%y = conv2d(%x, %w, %b) {stride_h=2, activation=relu}", {"y"}));
  EXPECT_EQ(fused_summary(in + "%m = conv2d(%x, %w)  %a = add(%b, %m)", {"a"}), "a = conv2d(x, w, b)\n");
  EXPECT_EQ(fused_summary(in + "%m = conv2d(%x, %w)  %a = add(%m, %b)", {"a", "m"}),
            "m = conv2d(x, w)\na = add(m, b)\n");
  // The bias of the last dimension is none of the channels.
  const std::string first =
      "%x = placeholder() {shape=[2, 3, 8, 8]}\n%w = placeholder() {shape=[3, 3, 3, 8]}\n"
      "%b = placeholder() {shape=[8]}\n";
  EXPECT_EQ(fused_summary(first + "%m = conv2d(%x, %w) {data_format=nchw}  %a = add(%m, %b)", {"a"}),
            "m = conv2d(x, w)\na = add(m, b)\n");
}

TEST(fuse, takes_rows_that_depend_on_data) {
  const std::string in = "%x = placeholder() {shape=[4, 3]}\n%m = placeholder() {shape=[4], dtype=bool}\n";
  EXPECT_EQ(fused_summary(in + "%r = boolean_mask(%x, %m)  %a = exp(%r)  %y = sqrt(%a)  %s = reduce_sum(%y)", {"s"}),
            "r = boolean_mask(x, m)\ns = fused_reduce(r) [a, y] -> y\n");
}

// A write of `a` in the first update must not wait for a value that is read after another write.
TEST(fuse, does_not_delay_a_value_to_a_later_stage) {
  const std::string variable = R"( = variable() {shape=[2, 3], initializer=subgraph() -> (%zeros) {
      initializer
      %zeros = fill() {shape=[2, 3]}
    }}
  )";
  PlanGraph plan = parse_plan(kX + "%v" + variable + "%u" + variable + R"(
    %write = assign(%v, %w)
    %read = read_variable(%v) after(%write)
    %a = exp(%x)
    %other = assign(%u, %a)
    %y = add(%a, %read))",
                              {"y"});
  plan.targets = {plan.graph.get_operation("other")};
  fuse(plan);
  EXPECT_EQ(summary(plan).find("fused"), std::string::npos) << summary(plan);
}

TEST(fuse, respects_limits) {
  std::string chain = "%x = placeholder() {shape=[4]}\n%n0 = exp(%x)\n", sum = "%s0 = placeholder() {shape=[4]}\n";
  for (int i = 1; i < 100; ++i) chain += str("%n", i, " = sin(%n", i - 1, ")\n");
  PlanGraph plan = parse_plan(chain, {"n99"});
  fuse(plan);
  EXPECT_EQ(plan.graph.size(), 4u);  // 48 + 48 + 4, and x
  for (int i = 1; i < 20; ++i)
    sum += str("%p", i, " = placeholder() {shape=[4]}\n%s", i, " = add(%s", i - 1, ", %p", i, ")\n");
  PlanGraph wide = parse_plan(sum, {"s19"});
  fuse(wide);
  for (const Operation& op : wide.graph.operations()) EXPECT_LE(op.node()->inputs.size(), 8u);
}

TEST(fuse, is_the_same_every_time) {
  const std::string text = kX + "%a = exp(%x)  %b = sqrt(%a)  %c = sin(%a)  %d = add(%b, %w)  %e = reduce_sum(%c)";
  const std::string first = text_after(fuse, text, {"d", "e"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_after(fuse, text, {"d", "e"}), first);
}

}  // namespace
}  // namespace martello
