#include <martello/models/layer.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>
#include <martello/models/arg_scope.h>
#include <martello/models/fully_connected.h>
#include <martello/ops/activation.h>
#include <martello/ops/binary.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>
#include <martello/tower/tower_context.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

struct LogLines {
  std::vector<std::string> lines;
  LogLines() {
    logger::set_sink([this](logger::Level, std::string_view text) { lines.emplace_back(text); });
  }
  ~LogLines() { logger::set_sink({}); }
};

struct Scaled {
  Opt<double> start = unset(2.0);
  static void fields(auto&& f, auto&... self) { f("start", self.start...); }
};
LayerOutput scaled(std::string_view name, Tensor x, Scaled options = {}, SourceLine line = SourceLine::current()) {
  options = with_arg_scope(std::move(options));
  return build_layer({.type = "scaled", .name = name, .input = x, .line = line}, [&](LayerScope& layer) {
    return x * layer.variable("scale", {.shape = {}, .initializer = constant_init(*options.start)});
  });
}

Tensor input(Shape shape = {kUnknown, 3}) { return placeholder(std::move(shape), f32, "x"); }

TEST(Layer, a_users_own_works_like_ours) {
  GraphScope g;
  const ArgScope scope(Scaled{.start = 3});
  const auto y = scaled("own", input());
  EXPECT_EQ(y.name(), "own/output");
  EXPECT_EQ(y.variables()["scale"].name(), "own/scale");
  EXPECT_EQ(Session().eval(y, {{"x", HostTensor::of<float>({1, 2, 3}, {1, 3})}}).at(2), 9);
}

OP_REFUSES(layer, pixels_that_cannot_be_trained_on,
           [] {
             fully_connected("fc", placeholder({4, 3}, u8, "image"), {.units = 2});
           },
           {"[fully_connected 'fc']", "x is u8", "'W'", "cast(x, f32)"})

TEST(Layer, names_output_and_variables_by_its_scopes) {
  GraphScope g;
  const VariableScope block("block");
  const NameScope names("first");
  const auto y = fully_connected("fc", input(), {.units = 4, .activation = relu});
  EXPECT_EQ(y.name(), "first/fc/output");
  EXPECT_EQ(y.shape().str(), "[?, 4]");
  EXPECT_EQ(y.variables()["W"].name(), "block/fc/W");
  EXPECT_EQ(y.variables()["W"].shape(), Shape(3, 4));
  EXPECT_EQ(y.variables()["b"].name(), "block/fc/b");
  EXPECT_EQ(y.variables().size(), 2u);
  EXPECT_FALSE(y.variables().find("bias").has_value());
  try {
    y.variables()["w"];
    FAIL() << "found";
  } catch (const NotFound& e) {
    EXPECT_NE(std::string(e.what()).find("[layer 'block/fc'] has no variable 'w', only: W, b. Did you mean"),
              std::string::npos)
        << e.what();
  }
}

TEST(Layer, a_second_of_one_name_shares_only_under_reuse) {
  GraphScope g;
  const Tensor x = input();
  fully_connected("fc", x, {.units = 4});
  {
    const VariableScope shared("", Reuse::yes);
    const auto y = fully_connected("fc", x, {.units = 4});
    EXPECT_EQ(y.name(), "fc_1/output");
    EXPECT_EQ(y.variables()["W"].name(), "fc/W");
  }
  EXPECT_EQ(global_variables().size(), 2u);
  EXPECT_THROW(fully_connected("fc", x, {.units = 4}), InvalidArgument);
}

TEST(Layer, knows_the_variables_of_layers_inside) {
  GraphScope g;
  const Tensor x = input({2});
  const auto y = build_layer({.type = "outer", .name = "outer", .input = x}, [&](LayerScope& layer) {
    const Tensor z = x + layer.variable("shift", {.shape = {}, .initializer = ones()});
    const VariableScope block("block", Reuse::automatic);
    return scaled("once", scaled("twice", scaled("twice", z)));
  });
  std::vector<std::string> names;
  for (const auto& item : y.variables()) names.push_back(item.name);
  EXPECT_EQ(names, (std::vector<std::string>{"shift", "block/twice/scale", "block/once/scale"}));
  EXPECT_EQ(y.variables()["block/once/scale"].name(), "outer/block/once/scale");
}

TEST(Layer, does_not_know_the_variables_of_another_graph) {
  GraphScope g;
  const auto y = build_layer({.type = "outer", .name = "outer", .input = input({2})}, [](LayerScope&) {
    {
      GraphScope other;
      scaled("own", input({2}));
    }
    return input({2});
  });
  EXPECT_EQ(y.variables().size(), 0u);
}

TEST(Layer, inner_nodes_have_the_callers_line) {
  GraphScope g;
  const Tensor x = input();
  const unsigned line = __LINE__ + 1;
  fully_connected("fc", x, {.units = 4, .activation = relu});
  for (const Operation& op : g.graph().operations())
    EXPECT_TRUE(!op.name().starts_with("fc/") || op.node()->line.line == line) << op.name();
}

TEST(Layer, logs_its_shape_once_per_scope_and_graph) {
  LogLines log;
  for (int graph = 0; graph < 2; ++graph) {
    log.lines.clear();
    GraphScope g;
    {
      TowerContext tower("tower0", true, {.total = 2});
      fully_connected("fc", input(), {.units = 4});
      scaled("own", input({2}));
    }
    {
      TowerContext tower("tower1", true, {.variable_scope = "tower1", .index = 1, .total = 2});
      fully_connected("fc", input(), {.units = 4});
    }
    EXPECT_EQ(log.lines, (std::vector<std::string>{"'fc': [?, 3] --> [?, 4]", "'own': [2] --> [2]"}));
  }
  log.lines.clear();
  GraphScope g;
  disable_layer_logging();
  fully_connected("fc", input(), {.units = 4});
  enable_layer_logging();
  EXPECT_TRUE(log.lines.empty());
}

TEST(Layer, logs_inner_layers_indented) {
  LogLines log;
  GraphScope g;
  build_layer({.type = "outer", .name = "outer", .input = input({2})},
              [](LayerScope&) { return scaled("inner", input({2})); });
  EXPECT_EQ(log.lines, (std::vector<std::string>{"  'outer/inner': [2] --> [2]", "'outer': [2] --> [2]"}));
}

OP_REFUSES(layer, no_units, [] { fully_connected("fc", input()); },
           {"[fully_connected 'fc'] units is 0", "Set .units", "ArgScope"});
OP_REFUSES(layer, negative_units, [] { fully_connected("fc", input(), {.units = -3}); },
           {"[fully_connected 'fc'] units is -3"});
OP_REFUSES(layer, unknown_features,
           [] {
             fully_connected("fc", input({2, kUnknown}), {.units = 3});
           },
           {"[fully_connected 'fc']", "is unknown", "[2, ?]"});
OP_REFUSES(layer, a_null_input, [] { fully_connected("fc", Tensor(), {.units = 3}); },
           {"[fully_connected \"fc\"]", "null Tensor"});
OP_REFUSES(layer, no_name, [] { fully_connected("", input(), {.units = 3}); }, {"[fully_connected \"\"]", "not empty"});
OP_REFUSES(layer, a_name_with_tower, [] { fully_connected("mytower", input(), {.units = 3}); },
           {"[fully_connected \"mytower\"]", "\"tower\""});
OP_REFUSES(layer, an_error_inside_names_the_layer,
           [] { fully_connected("fc", input(), {.units = 3, .activation = [](Tensor y) { return y + input({7}); }}); },
           {"[add 'fc/add']", "in layer [fully_connected 'fc']"});
OP_REFUSES(layer, an_activation_that_gives_nothing,
           [] { fully_connected("fc", input(), {.units = 3, .activation = [](Tensor) { return Tensor(); }}); },
           {"[fully_connected 'fc'] gives a null Tensor"});

}  // namespace
}  // namespace martello::testing
