#include <martello/graph/internal/test_ops.h>
#include <martello/graph/node.h>

#include <gtest/gtest.h>

#include <thread>

namespace martello {
namespace {

using namespace testing;
using ::testing::IsSubstring;

Tensor x_of(Name name = "x") { return placeholder({2}, f32, name); }

TEST(scopes, names_are_unique_by_suffix) {
  GraphScope scope;
  EXPECT_EQ(x_of().name(), "x");
  EXPECT_EQ(x_of().name(), "x_1");
  EXPECT_EQ(x_of("x_1").name(), "x_1_1");
  EXPECT_EQ(x_of().name(), "x_2");
}

TEST(scopes, name_scopes_nest_and_are_unique) {
  GraphScope scope;
  {
    NameScope fc("fc");
    EXPECT_EQ(x_of().name(), "fc/x");
    NameScope inner("inner");
    EXPECT_EQ(x_of().name(), "fc/inner/x");
  }
  {
    NameScope fc("fc");
    EXPECT_EQ(x_of().name(), "fc_1/x");
  }
  EXPECT_EQ(x_of().name(), "x");
}

TEST(scopes, a_name_scope_with_a_slash_is_reopened) {
  GraphScope scope;
  { NameScope fc("fc"); }
  NameScope other("other");
  NameScope again("fc/");
  EXPECT_EQ(x_of().name(), "fc/x");
  EXPECT_EQ(x_of().name(), "fc/x_1");
}

TEST(scopes, bad_scope_names_are_refused_and_leave_no_trace) {
  GraphScope scope;
  EXPECT_THROW(NameScope bad(""), InvalidArgument);
  EXPECT_THROW(NameScope bad("a:b"), InvalidArgument);
  EXPECT_PRED_FORMAT2(IsSubstring, "scopes_test.cc:", error_of([] { VariableScope bad("a b"); }));
  EXPECT_EQ(x_of().name(), "x");
}

TEST(scopes, variable_scopes_are_never_made_unique) {
  GraphScope scope;
  EXPECT_EQ(VariableScope::current_name(), "");
  for (int i = 0; i < 2; ++i) {
    VariableScope fc("fc");
    EXPECT_EQ(VariableScope::current_name(), "fc");
    VariableScope inner("a/b");
    EXPECT_EQ(VariableScope::current_name(), "fc/a/b");
    EXPECT_EQ(x_of("x").name().find("fc"), std::string::npos) << "name scopes are independent";
  }
}

TEST(scopes, reuse_is_inherited) {
  GraphScope scope;
  EXPECT_EQ(VariableScope::current_reuse(), Reuse::no);
  {
    VariableScope fc("fc", Reuse::yes);
    EXPECT_EQ(VariableScope::current_reuse(), Reuse::yes);
    VariableScope same("");
    EXPECT_EQ(VariableScope::current_reuse(), Reuse::yes);
    EXPECT_EQ(VariableScope::current_name(), "fc");
    VariableScope inner("inner", Reuse::automatic);
    EXPECT_EQ(VariableScope::current_reuse(), Reuse::automatic);
  }
  EXPECT_EQ(VariableScope::current_reuse(), Reuse::no);
}

TEST(scopes, device_scopes_place_nodes) {
  GraphScope scope;
  EXPECT_EQ(x_of().node()->device, "");
  {
    DeviceScope on("cpu:1");
    EXPECT_EQ(x_of().node()->device, "cpu:1");
    DeviceScope anywhere("");
    EXPECT_EQ(DeviceScope::current_device(), "");
  }
  EXPECT_EQ(DeviceScope::current_device(), "");
  EXPECT_THROW(DeviceScope bad("tpu:0"), InvalidArgument);
  EXPECT_PRED_FORMAT2(IsSubstring, "scopes_test.cc:", error_of([] { DeviceScope on("tpu:0"); }));
}

TEST(scopes, recompute_scopes_are_numbered) {
  GraphScope scope;
  EXPECT_EQ(x_of().node()->recompute_scope, 0);
  {
    RecomputeScope outer;
    EXPECT_EQ(x_of().node()->recompute_scope, 1);
    {
      RecomputeScope inner;
      EXPECT_EQ(x_of().node()->recompute_scope, 2);
    }
    EXPECT_EQ(x_of().node()->recompute_scope, 1);
    GraphScope other;
    EXPECT_EQ(x_of().node()->recompute_scope, 0);
  }
  EXPECT_EQ(x_of().node()->recompute_scope, 0);
}

TEST(scopes, control_dependencies_add_up_and_end) {
  GraphScope scope;
  const Tensor a = x_of("a"), b = x_of("b");
  {
    ControlDependencies after_a({a.op()});
    ControlDependencies after_b({b.op()});
    EXPECT_EQ(x_of().node()->controls, (std::vector<OpNode*>{a.node(), b.node()}));
  }
  EXPECT_TRUE(x_of().node()->controls.empty());
  EXPECT_EQ(group({a.op(), b.op()}).node()->controls.size(), 2u);
}

TEST(scopes, control_dependencies_refuse_null_and_foreign_operations) {
  GraphScope outer;
  const Operation a = x_of("a").op();
  GraphScope inner;
  EXPECT_THROW(ControlDependencies bad({a}), InvalidArgument);
  EXPECT_THROW(ControlDependencies bad({Operation()}), InvalidArgument);
}

TEST(scopes, gradient_overrides_mark_nodes_of_their_op) {
  GraphScope scope;
  const Tensor x = x_of();
  {
    GradientOverride guided("twice", "guided", [](const GradContext& c) { return c.grads; });
    EXPECT_EQ(twice(x).node()->gradient_override->name, "guided");
    EXPECT_EQ(sum(x, x).node()->gradient_override, nullptr);
  }
  EXPECT_EQ(twice(x).node()->gradient_override, nullptr);
  EXPECT_THROW(GradientOverride bad("no_such_op", "g", {}), InvalidArgument);
}

TEST(scopes, a_nested_graph_scope_starts_empty) {
  GraphScope outer;
  NameScope name("outer");
  VariableScope variables("v", Reuse::yes);
  DeviceScope on("cpu:1");
  {
    GraphScope inner;
    EXPECT_NE(Graph::current(), outer.graph());
    EXPECT_EQ(x_of().name(), "x");
    EXPECT_EQ(x_of().node()->device, "");
    EXPECT_EQ(VariableScope::current_name(), "");
    EXPECT_EQ(VariableScope::current_reuse(), Reuse::no);
  }
  EXPECT_EQ(Graph::current(), outer.graph());
  EXPECT_EQ(x_of().name(), "outer/x");
}

TEST(scopes, a_graph_may_be_opened_again) {
  Graph graph;
  {
    GraphScope scope(graph);
    x_of();
  }
  GraphScope scope(graph);
  EXPECT_EQ(x_of().name(), "x_1");
}

TEST(scopes, belong_to_their_thread) {
  GraphScope scope;
  bool threw = false;
  std::thread([&] {
    try {
      Graph::current();
    } catch (const FailedPrecondition&) {
      threw = true;
    }
  }).join();
  EXPECT_TRUE(threw);
}

TEST(source_lines, operands_of_operators_know_their_line) {
  GraphScope scope;
  const Tensor a = x_of("a"), b = x_of("b");
  const Tensor y = a * b;
  EXPECT_EQ(y.node()->line.str(), str("scopes_test.cc:", __LINE__ - 1));
}

TEST(source_lines, the_outermost_line_scope_wins) {
  GraphScope scope;
  const Tensor a = x_of("a");
  LineScope outer({"layer.cc", 7, ""});
  LineScope inner({"deeper.cc", 9, ""});
  EXPECT_EQ(twice(a).node()->line.str(), "layer.cc:7");
  LineScope pinned({"pinned.cc", 3, ""}, LineScope::Kind::pin);
  EXPECT_EQ(twice(a).node()->line.str(), "pinned.cc:3");
}

}  // namespace
}  // namespace martello
