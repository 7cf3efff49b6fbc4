#include <martello/tower/tower_context.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/assign.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>

#include <gtest/gtest.h>

#include <thread>

namespace martello {
namespace {

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

void expect_says(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin: " << text;
}

// All lines logged while it lives.
struct LogLines {
  std::vector<std::string> lines;
  LogLines() {
    logger::set_sink([this](logger::Level, std::string_view text) { lines.emplace_back(text); });
  }
  ~LogLines() { logger::set_sink({}); }
};

Tensor some_tensor() { return placeholder({2}, f32, "x"); }

TEST(TowerContext, is_found_only_while_it_lives) {
  GraphScope g;
  EXPECT_EQ(find_current_tower_context(), nullptr);
  {
    TowerContext tower("", true);
    EXPECT_EQ(find_current_tower_context(), &tower);
    EXPECT_EQ(&get_current_tower_context(), &tower);
  }
  EXPECT_EQ(find_current_tower_context(), nullptr);
  expect_says(error_of([] { get_current_tower_context("dropout 'drop'"); }),
              {"[dropout 'drop']", "outside a tower", "TowerContext", "tower_context_test.cc"});
}

TEST(TowerContext, belongs_to_its_graph_and_thread) {
  GraphScope g;
  TowerContext tower("", true);
  {
    GraphScope other;
    EXPECT_EQ(find_current_tower_context(), nullptr);
    TowerContext inner("", false);
    EXPECT_EQ(find_current_tower_context(), &inner);
  }
  EXPECT_EQ(find_current_tower_context(), &tower);
  std::thread([&] {
    GraphScope same(g.graph());
    EXPECT_EQ(find_current_tower_context(), nullptr);
  }).join();
}

TEST(TowerContext, is_the_same_inside_a_body) {
  GraphScope g;
  TowerContext tower("", true);
  build_subgraph({}, [&](TensorList) {
    EXPECT_EQ(find_current_tower_context(), &tower);
    return TensorList{constant(HostTensor(1.f))};
  });
}

TEST(TowerContext, says_what_it_is) {
  GraphScope g;
  struct Case {
    bool is_training;
    TowerOptions options;
    Reuse reuse;
    bool is_main, has_own;
  };
  const Case cases[] = {{true, {}, Reuse::no, true, true},
                        {true, {.index = 0, .total = 2}, Reuse::yes, true, false},
                        {true, {.index = 1, .total = 2}, Reuse::no, false, false},
                        {true, {.variable_scope = "t1", .index = 1, .total = 2}, Reuse::no, false, true},
                        {false, {}, Reuse::no, false, true},
                        {false, {}, Reuse::yes, false, false}};
  int number = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(number);
    VariableScope reuse("", c.reuse);
    TowerContext tower(str("tower", number++), c.is_training, c.options);
    EXPECT_EQ(tower.is_training(), c.is_training);
    EXPECT_EQ(tower.is_main_training_tower(), c.is_main);
    EXPECT_EQ(tower.has_own_variables(), c.has_own);
    EXPECT_EQ(tower.index(), c.options.index);
    EXPECT_EQ(tower.total(), c.options.total);
  }
}

TEST(TowerContext, opens_its_scopes) {
  GraphScope g;
  NameScope around("around");
  {
    TowerContext tower("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
    EXPECT_EQ(some_tensor().name(), "tower1/x");
    EXPECT_EQ(get_variable("w", {.shape = {2}}).name(), "tower1/w");
    EXPECT_EQ(tower.without_tower("tower1/conv1"), "conv1");
    EXPECT_EQ(tower.without_tower("tower10/conv1"), "tower10/conv1");
  }
  EXPECT_EQ(some_tensor().name(), "around/x");
  EXPECT_EQ(VariableScope::current_name(), "");
}

TEST(TowerContext, refuses_to_nest_with_both_names) {
  GraphScope g;
  TowerContext outer("tower0", true);
  expect_says(error_of([] { TowerContext inner("tower1", true, {.index = 1, .total = 2}); }),
              {"[tower 'tower1']", "inside tower 'tower0'", "tower_context_test.cc"});
  EXPECT_EQ(find_current_tower_context(), &outer);
}

TEST(TowerContext, refuses_wrong_options) {
  GraphScope g;
  expect_says(error_of([] { TowerContext t("", true, {.variable_scope = "v"}); }),
              {"'v'", "needs a tower with a name"});
  expect_says(error_of([] { TowerContext t("a", true, {.index = 2, .total = 2}); }), {"index 2 of 2 towers"});
  expect_says(error_of([] { TowerContext t("a", false, {.index = -1}); }), {"index -1 of 1 towers"});
  expect_says(error_of([] {
                VariableScope scope("net");
                TowerContext t("a", true);
              }),
              {"[tower 'a']", "inside variable scope 'net'"});
  expect_says(error_of([] {
                VariableScope scope("", Reuse::yes);
                TowerContext t("a", true, {.variable_scope = "a"});
              }),
              {"[tower 'a']", "reuse=yes"});
  expect_says(error_of([] {
                NameScope scope("around");
                TowerContext t("", true);
              }),
              {"[tower '']", "'around/'"});
  EXPECT_EQ(find_current_tower_context(), nullptr);
}

TEST(TowerContext, refuses_a_name_used_before) {
  GraphScope g;
  { TowerContext first("tower0", true); }
  expect_says(error_of([] { TowerContext second("tower0", false); }), {"[tower 'tower0']", "different tower name"});
}

TEST(TowerContext, refuses_trainable_variables_in_a_sharing_tower) {
  GraphScope g;
  { get_variable("w", {.shape = {2}}); }
  VariableScope reuse("", Reuse::automatic);
  TowerContext tower("tower1", true, {.index = 1, .total = 2});
  EXPECT_EQ(get_variable("w", {.shape = {2}}).name(), "w");
  EXPECT_EQ(get_variable("state", {.shape = {2}, .trainable = false}).name(), "state");
  expect_says(error_of([] { get_variable("w2", {.shape = {2}}); }),
              {"[get_variable 'w2']", "tower 'tower1'", "tower_context_test.cc"});
  EXPECT_NO_THROW(tower.check_variables());
}

TEST(TowerContext, tells_of_raw_trainable_variables) {
  GraphScope g;
  LogLines log;
  {
    TowerContext tower("tower1", true, {.index = 1, .total = 2});
    raw_variable("loose", {.shape = {2}});
    expect_says(error_of([&] { tower.check_variables(); }), {"[tower 'tower1']", "'loose'"});
  }
  ASSERT_EQ(log.lines.size(), 1u);
  expect_says(log.lines[0], {"[tower 'tower1']", "'loose'"});
}

struct Added {
  size_t summaries, moving, updates;
  bool operator==(const Added&) const = default;
};

Added add_in(const std::string& name, bool is_training, TowerOptions options) {
  auto& lists = Graph::current().collections();
  {
    TowerContext tower(name, is_training, std::move(options));
    const Tensor x = some_tensor();
    lists.add(kSummaries, x);
    lists.add(kMovingSummaryOps, x.op());
    lists.add(kUpdateOps, x.op());
    EXPECT_EQ(get_collection_in_tower(kSummaries), std::vector<Tensor>{x});
    EXPECT_EQ(get_collection_in_tower(kLosses).size(), 0u);
  }
  return {lists.get(kSummaries).size(), lists.get(kMovingSummaryOps).size(), lists.get(kUpdateOps).size()};
}

TEST(TowerContext, restores_what_it_may_not_add) {
  GraphScope g;
  LogLines log;
  EXPECT_EQ(add_in("tower0", true, {.total = 2}), (Added{1, 1, 1}));
  EXPECT_TRUE(log.lines.empty());
  EXPECT_EQ(add_in("tower1", true, {.index = 1, .total = 2}), (Added{1, 1, 2}));
  EXPECT_EQ(log.lines.size(), 2u);
  EXPECT_EQ(add_in("inference", false, {}), (Added{1, 1, 2}));
  EXPECT_EQ(log.lines.size(), 5u);
  expect_says(log.lines.back(), {"[tower 'inference']", "update_ops"});
}

TEST(TowerContext, restores_collections_after_an_error) {
  GraphScope g;
  LogLines log;
  try {
    TowerContext tower("inference", false);
    g.graph().collections().add(kUpdateOps, some_tensor().op());
    throw InvalidArgument("the model's own");
  } catch (const InvalidArgument&) {
  }
  EXPECT_TRUE(g.graph().collections().get(kUpdateOps).empty());
  EXPECT_EQ(find_current_tower_context(), nullptr);
}

TEST(TowerContext, ends_quietly_after_finalize) {
  GraphScope g;
  {
    TowerContext tower("inference", false);
    g.graph().collections().add(kSummaries, some_tensor());
    g.graph().finalize();
  }
  EXPECT_EQ(g.graph().collections().get(kSummaries).size(), 1u);
}

}  // namespace
}  // namespace martello
