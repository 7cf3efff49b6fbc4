#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/reduce.h>
#include <martello/ops/summary.h>
#include <martello/runtime/session.h>
#include <martello/tower/summary.h>
#include <martello/tower/tower_context.h>

#include <cmath>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;

std::vector<std::string> tags(const Graph& graph) {
  std::vector<std::string> list;
  for (const Tensor& t : graph.collections().get(kSummaries)) list.push_back(summary_of(t).tag);
  return list;
}

struct SummaryTest : ::testing::Test {
  // The value of a scalar summary for one feed.
  double shown(Session& session, std::string_view tag, const Feeds& feeds) {
    for (const Tensor& t : g.graph().collections().get(kSummaries))
      if (summary_of(t).tag == tag) return session.eval(t, feeds).at(0);
    ADD_FAILURE() << "no summary " << tag;
    return 0;
  }
  GraphScope g;
};

TEST_F(SummaryTest, a_moving_average_has_no_bias) {
  const Tensor x = placeholder({}, f32, "loss");
  const auto updates = add_moving_summary(x, {.decay = 0.9});
  ASSERT_EQ(updates.size(), 1u);
  EXPECT_EQ(g.graph().collections().get(kMovingSummaryOps), updates);
  EXPECT_EQ(tags(g.graph()), std::vector<std::string>{"loss"});
  Session session;
  double biased = 0;
  for (int t = 1; t <= 5; ++t) {
    const auto value = static_cast<float>(t * t);
    biased = 0.9 * biased + 0.1 * value;
    const double expected = biased / (1 - std::pow(0.9, t));
    EXPECT_NEAR(shown(session, "loss", {{x, value}}), expected, 1e-5 * expected) << t;
    session.run(updates[0], {{x, value}});
  }
}

TEST_F(SummaryTest, the_first_average_is_the_value_itself) {
  const Tensor x = placeholder({}, f32, "loss");
  add_moving_summary(x);
  Session session;
  for (float value : {0.1F, 3.7e-20F, -123456.7F}) EXPECT_EQ(shown(session, "loss", {{x, value}}), value);
}

TEST_F(SummaryTest, looking_at_an_average_does_not_change_it) {
  const Tensor x = placeholder({}, f32, "loss");
  const auto updates = add_moving_summary(x);
  Session session;
  session.run(updates[0], {{x, 1.F}});
  EXPECT_EQ(shown(session, "loss", {{x, 2.F}}), shown(session, "loss", {{x, 2.F}}));
  const Tensor entry = g.graph().collections().get(kSummaries)[0];
  const double along = session.run({entry, updates[0]}, {{x, 2.F}})[0].at(0);
  EXPECT_NE(shown(session, "loss", {{x, 2.F}}), along);
}

TEST_F(SummaryTest, averages_are_local_variables_named_after_the_scalar) {
  const TowerContext tower("tower0", true);
  add_moving_summary({placeholder({}, f32, "loss"), placeholder({}, i32, "hits")});
  const auto local = g.graph().collections().get(kLocalVariables);
  ASSERT_EQ(local.size(), 2u);
  EXPECT_EQ(local[0].handle().name(), "EMA/loss");
  EXPECT_TRUE(g.graph().collections().get(kGlobalVariables).empty());
  EXPECT_TRUE(g.graph().collections().get(kTrainableVariables).empty());
  EXPECT_EQ(tags(g.graph()), (std::vector<std::string>{"loss", "hits"}));
}

TEST_F(SummaryTest, other_towers_add_nothing) {
  const auto build = [](std::string_view name, bool is_training, int index) {
    const TowerContext tower(name, is_training, {.index = index, .total = 2});
    const Tensor x = placeholder({}, f32, "loss"), y = placeholder({2, 2}, f32, "y");
    add_tensor_summary(y, {"rms"});
    add_activation_summary(y);
    return add_moving_summary(x).size();
  };
  EXPECT_EQ(build("tower0", true, 0), 1u);
  const auto before = tags(g.graph());
  const size_t nodes = g.graph().size();
  EXPECT_EQ(build("tower1", true, 1), 0u);
  EXPECT_EQ(build("predict", false, 0), 0u);
  EXPECT_EQ(tags(g.graph()), before);
  EXPECT_EQ(g.graph().size(), nodes + 4);
}

TEST_F(SummaryTest, without_a_collection_the_caller_runs_the_update) {
  const auto updates = add_moving_summary(placeholder({}, f32, "loss"), {.collection = std::nullopt});
  EXPECT_EQ(updates.size(), 1u);
  EXPECT_TRUE(g.graph().collections().get(kMovingSummaryOps).empty());
}

TEST_F(SummaryTest, where_variables_are_reused_it_says_so) {
  Log log;
  const VariableScope scope("a", Reuse::yes);
  EXPECT_TRUE(add_moving_summary(placeholder({}, f32, "loss")).empty());
  EXPECT_CONTAINS(log.lines.at(0), "does nothing where variables are reused");
}

TEST_F(SummaryTest, a_second_summary_of_a_scalar_is_left_out) {
  Log log;
  const Tensor x = placeholder({}, f32, "loss");
  add_moving_summary(x);
  EXPECT_TRUE(add_moving_summary(x).empty());
  EXPECT_CONTAINS(log.lines.at(0), "[add_moving_summary 'loss'] exists already");
  EXPECT_EQ(tags(g.graph()).size(), 1u);
}

TEST_F(SummaryTest, refuses_what_is_no_scalar) {
  EXPECT_CONTAINS(error_of([] { add_moving_summary(placeholder({3}, f32, "x")); }), "takes scalars, not [3]");
  EXPECT_CONTAINS(error_of([] { add_moving_summary(Tensor()); }), "is null");
  EXPECT_CONTAINS(error_of([] { add_moving_summary(placeholder({}, f32, "y"), {.decay = 1}); }), "decay is 1");
}

TEST_F(SummaryTest, the_types_of_a_tensor) {
  const Tensor x = placeholder({4}, f32, "x");
  add_tensor_summary(x, {"mean", "rms", "norm", "sparsity", "histogram"});
  add_tensor_summary(reduce_mean(x), {"scalar"}, {.name = "average"});
  EXPECT_EQ(tags(g.graph()),
            (std::vector<std::string>{"x-mean", "x-rms", "x-norm", "x-sparsity", "x-histogram", "average"}));
  Session session;
  const Feeds feeds = {{x, HostTensor::of<float>({0, 3, 0, 4})}};
  EXPECT_FLOAT_EQ(shown(session, "x-mean", feeds), 1.75);
  EXPECT_FLOAT_EQ(shown(session, "x-rms", feeds), 2.5);
  EXPECT_FLOAT_EQ(shown(session, "x-norm", feeds), 5);
  EXPECT_FLOAT_EQ(shown(session, "x-sparsity", feeds), 0.5);
  EXPECT_FLOAT_EQ(shown(session, "average", feeds), 1.75);
}

TEST_F(SummaryTest, integers_and_booleans_have_statistics_too) {
  const Tensor x = placeholder({4}, i32, "x"), b = placeholder({2}, boolean, "b");
  add_tensor_summary(x, {"mean"});
  add_tensor_summary(b, {"sparsity"});
  Session session;
  EXPECT_FLOAT_EQ(shown(session, "x-mean", {{x, HostTensor::of<int32_t>({0, 3, 0, 4})}}), 1.75);
  EXPECT_FLOAT_EQ(shown(session, "b-sparsity", {{b, HostTensor::of<bool>({true, false})}}), 0.5);
}

TEST_F(SummaryTest, a_misspelled_type_has_a_near_miss) {
  const std::string text = error_of([] { add_tensor_summary(placeholder({4}, f32, "x"), {"histogramm"}); });
  EXPECT_CONTAINS(text, "there is no type 'histogramm'");
  EXPECT_CONTAINS(text, "Did you mean 'histogram'?");
  EXPECT_CONTAINS(text, "summary_test.cc:");
}

TEST_F(SummaryTest, activations_need_two_axes) {
  Log log;
  add_activation_summary(placeholder({4}, f32, "x"));
  EXPECT_CONTAINS(log.lines.at(0), "[add_activation_summary 'x'] takes no [4]");
  add_activation_summary(placeholder({4, 4}, f32, "y"), {"rms"});
  EXPECT_EQ(tags(g.graph()), std::vector<std::string>{"activation-summary/y-rms"});
}

TEST_F(SummaryTest, parameters_are_chosen_by_whole_names) {
  Log log;
  {
    const TowerContext tower("tower0", true);
    get_variable("conv1/W", {.shape = {2, 2}});
    get_variable("conv1/b", {.shape = {2}});
    add_param_summary({{".*/W", {"histogram", "rms"}}, {"conv1", {"mean"}}});
  }
  EXPECT_EQ(tags(g.graph()),
            (std::vector<std::string>{"param-summary/conv1/W-histogram", "param-summary/conv1/W-rms"}));
  EXPECT_CONTAINS(log.lines.back(), "no trainable variable matches 'conv1'");
  EXPECT_CONTAINS(error_of([] { add_param_summary("(", {"rms"}); }), "'(' is no regular expression");
}

}  // namespace
}  // namespace martello
