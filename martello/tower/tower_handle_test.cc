#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/binary.h>
#include <martello/ops/reduce.h>
#include <martello/ops/split.h>
#include <martello/ops/unary.h>
#include <martello/tower/tower_func.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;

struct TowerHandleTest : ::testing::Test {
  TowerFunc function{[](Tensor x, Tensor label) {
                       const auto w = get_variable("fc/w");
                       Graph::current().collections().add(kLosses, square(x, "loss"));
                       if (get_current_tower_context().is_main_training_tower()) square(label, "x");
                       return reduce_mean(x * w, {}, "cost");
                     },
                     {{{2}, f32, "x"}, {{2}, f32, "label"}}};
  TowerHandle build(const std::string& name, bool is_training, TowerOptions options = {}, Reuse reuse = Reuse::no) {
    const Tensor a = placeholder({2}, f32, "from_queue"), b = placeholder({2}, f32, "from_queue");
    const VariableScope scope("", reuse);
    const TowerContext tower(name, is_training, std::move(options));
    function({a, b});
    return function.towers()[function.towers().size() - 1];
  }
  GraphScope graph;
};

TEST_F(TowerHandleTest, finds_tensors_in_its_name_scope) {
  const TowerHandle first = build("tower0", true, {.total = 2});
  const TowerHandle second = build("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
  EXPECT_EQ(first["cost"].name(), "tower0/cost");
  EXPECT_EQ(second["cost"].name(), "tower1/cost");
  EXPECT_EQ(second["cost:0"].name(), "tower1/cost");
  EXPECT_EQ(second.get_tensors({"cost", "loss"})[1].name(), "tower1/loss");
  EXPECT_EQ(first.outputs()[0], first["cost"]);
  EXPECT_EQ(second.variable_scope(), "tower1");
}

TEST_F(TowerHandleTest, an_input_is_the_tensor_that_was_passed) {
  Log log;
  const TowerHandle tower = build("tower0", true);
  EXPECT_EQ(tower["label"].name(), "from_queue_1");
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(tower["x"].name(), "from_queue") << "though a tensor tower0/x exists";
  ASSERT_EQ(log.lines.size(), 1u);
  EXPECT_CONTAINS(log.lines[0], "'tower0/x'");
}

TEST_F(TowerHandleTest, falls_back_to_variables) {
  build("tower0", true, {.total = 2});
  const TowerHandle own = build("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
  const TowerHandle shared = build("InferenceTower", false, {}, Reuse::yes);
  EXPECT_EQ(own["fc/w"].name(), "tower1/fc/w");
  EXPECT_EQ(shared["fc/w"].name(), "fc/w");
  EXPECT_EQ(own.get_variable("fc/w:0").handle().name(), "tower1/fc/w");
  EXPECT_EQ(own.get_variables({"fc/w"}).size(), 1u);
}

TEST_F(TowerHandleTest, says_what_is_missing) {
  const TowerHandle tower = build("tower0", true);
  const std::string text = error_of<NotFound>([&] { tower.get_tensor("coast"); });
  for (const char* part : {"[tower 'tower0']", "'coast'", "'cost'", "tower_handle_test.cc"})
    EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of<NotFound>([&] { tower.get_variable("fc/W"); }), "'fc/w'");
  EXPECT_THROW(tower.get_variable("cost"), NotFound) << "not a variable";
  EXPECT_FALSE(tower.find_tensor("coast"));
}

TEST_F(TowerHandleTest, collections_are_those_of_this_tower) {
  const TowerHandle first = build("tower0", true, {.total = 2});
  const TowerHandle second = build("tower1", true, {.index = 1, .total = 2}, Reuse::yes);
  EXPECT_EQ(first.get_collection(kLosses), std::vector<Tensor>{first["loss"]});
  EXPECT_EQ(second.get_collection(kLosses), std::vector<Tensor>{second["loss"]});
  EXPECT_EQ(first.get_collection(kTrainableVariables).size(), 1u);
  EXPECT_TRUE(second.get_collection(kTrainableVariables).empty());
}

TEST_F(TowerHandleTest, a_tower_without_a_name_has_no_prefix) {
  const TowerHandle tower = build("", true);
  EXPECT_EQ(tower["cost"].name(), "cost");
  EXPECT_EQ(tower["fc/w"].name(), "fc/w");
}

TEST_F(TowerHandleTest, towers_are_found_by_number_and_name) {
  build("tower0", true);
  const TowerHandles towers = function.towers();
  EXPECT_CONTAINS(error_of<NotFound>([&] { towers[1]; }), "no tower 1");
  EXPECT_CONTAINS(error_of<NotFound>([&] { towers["tower9"]; }), "'tower0'");
  EXPECT_EQ(towers.find("tower9"), nullptr);
}

}  // namespace
}  // namespace martello
