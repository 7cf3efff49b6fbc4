#include <martello/graph/internal/graph_text.h>
#include <martello/graph/internal/test_ops.h>
#include <martello/graph/node.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace martello {
namespace {

using namespace testing;
using ::testing::IsSubstring;

// Nodes made inside have no source line, so that texts can be compared.
std::string text_of(const std::function<void()>& build) {
  GraphScope scope;
  build();
  return internal::graph_text(scope.graph(), {.lines = false});
}

void expect_round_trip(const std::string& text) {
  const std::string again = parse_graph(text).text();
  EXPECT_EQ(text, again);
}

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_graph(text); });
}

HostTensor odd_nan() {
  HostTensor t(Shape(1), f32);
  const uint32_t bits = 0x7fc12345;
  std::memcpy(t.mutable_raw(), &bits, sizeof bits);
  return t;
}

// A graph with a bit of everything.
Graph rich_graph() {
  Graph graph;
  GraphScope scope(graph);
  graph.set_seed(7);
  const Tensor x = placeholder({kUnknown, 4}, f32, "x"), w = cell({2, 4}, "fc/W");
  const TensorList h = halves(x, {.axis = -1});
  Tensor y;
  {
    DeviceScope on("cpu:1");
    RecomputeScope again;
    ControlDependencies after({x.op(), h[1].op()});
    y = sum(h[1], h[0], "fc/sum");
  }
  const auto body = build_subgraph({{{2, 4}, f32, "a"}}, [&](TensorList in) {
    const auto inner = build_subgraph({{{2, 4}, f32, "b"}}, [&](TensorList b) { return sum(b[0], w); });
    return TensorList{call(inner, in), twice(in[0])};
  });
  call(body, {constant(HostTensor::full({2, 4}, f32, 0.1))});
  const Operation write = store(w, twice(w));
  group({write}, "all");
  graph.collections().add(kTrainableVariables, Variable(w));
  graph.collections().add(kModelVariables, Variable(w, twice(w, "wrapped")));
  graph.collections().add(kLosses, h[1]);
  graph.collections().add(kUpdateOps, write);
  graph.collections().add(CollectionKey<std::string>{"my notes"}, std::string("two\nlines"));
  return graph;
}

TEST(text, reads_like_this) {
  const std::string text = text_of([] {
    const Tensor x = placeholder({kUnknown, 10}, f32, "x");
    const TensorList h = halves(x, {.axis = 1}, "fc/halves");
    ControlDependencies after({x.op()});
    DeviceScope on("cpu:1");
    sum(h[0], h[1], "y");
  });
  EXPECT_EQ(text,
            "martello graph 1\n"
            "%x = placeholder() {shape=[?, 10]} : f32[?0, 10]\n"
            "%fc/halves = halves(%x) {axis=1} : f32[?0, 5], f32[?0, 5]\n"
            "%y = sum(%fc/halves, %fc/halves:1) : f32[?0, 5] after(%x) on(\"cpu:1\")\n");
  expect_round_trip(text);
}

TEST(text, recompute_scopes_and_backward_parts_come_back) {
  const std::string text =
      "martello graph 1\n"
      "%x = placeholder() {shape=[4]} : f32[4]\n"
      "%a = twice(%x) : f32[4] on(\"cpu:1\") recompute(3)\n"
      "%b = twice(%a) : f32[4] backward\n";
  expect_round_trip(text);
  const Graph graph = parse_graph(text);
  EXPECT_EQ(graph.get_operation("a").node()->recompute_scope, 3);
  EXPECT_FALSE(graph.get_operation("a").node()->is_backward);
  EXPECT_TRUE(graph.get_operation("b").node()->is_backward);
  GraphScope scope(graph);
  RecomputeScope again;
  EXPECT_EQ(twice(graph.get_tensor("b")).node()->recompute_scope, 4);
}

TEST(text, bodies_are_indented_blocks) {
  const std::string text = text_of([] {
    const Tensor x = placeholder({2}, f32, "x");
    call(build_subgraph({{{2}, f32, "a"}}, [&](TensorList in) { return sum(in[0], x); }), {x});
  });
  EXPECT_EQ(text,
            "martello graph 1\n"
            "%x = placeholder() {shape=[2]} : f32[2]\n"
            "%call = call(%x, %x) {body=subgraph(%a, %x) -> (%sum) {\n"
            "  %a = arg() {shape=[2]} : f32[2]\n"
            "  %x = arg() {shape=[2]} : f32[2]\n"
            "  %sum = sum(%a, %x) : f32[2]\n"
            "}} : f32[2]\n");
  expect_round_trip(text);
}

TEST(text, rich_graph_comes_back_the_same) {
  const Graph graph = rich_graph();
  const Graph parsed = parse_graph(graph.text());
  EXPECT_EQ(parsed.text(), graph.text());
  EXPECT_EQ(parsed.seed(), 7u);
  EXPECT_EQ(parsed.collections().get(kLosses).at(0).name(), "halves:1");
  EXPECT_EQ(parsed.collections().get(kModelVariables).at(0).name(), "wrapped");
  EXPECT_EQ(parsed.collections().get(kModelVariables).at(0).handle().name(), "fc/W");
  EXPECT_EQ(parsed.collections().get(CollectionKey<std::string>{"my notes"}).at(0), "two\nlines");
  EXPECT_EQ(parsed.get_operation("fc/sum").node()->line.str().substr(0, 12), "text_test.cc");
}

TEST(text, every_kind_of_attribute_comes_back) {
  register_host_function({"load \"it\"", [](const HostTensors& in) { return in; }});
  EveryAttrs a{
      .flag = false, .count = -7, .big = std::numeric_limits<int64_t>::min(), .scale = 0.1, .text = "a \"b\"\n\x01"};
  a.dtype = boolean;
  a.shape = {};
  a.ints = {};
  a.longs = {1, -2};
  a.reals = {-0.0, 1e300, std::numeric_limits<double>::infinity(), 5e-324};
  a.value = HostTensor::of<float>({0.1f, -0.0f, 1e-45f, std::numeric_limits<float>::infinity(), std::nanf("")}, {5, 1});
  a.function = *find_host_function("load \"it\"");
  a.mode = Mode::odd_name;
  GraphScope scope;
  every(a);
  const Graph parsed = parse_graph(scope.graph().text());
  EXPECT_EQ(parsed.text(), scope.graph().text());
  EXPECT_TRUE(parsed.get_operation("every").node()->attrs == Attrs(a)) << parsed.text();
}

TEST(text, default_attributes_are_left_out) {
  EXPECT_EQ(text_of([] { every({}); }), "martello graph 1\n%every = every() : f32[2, 3]\n");
}

TEST(text, values_of_every_dtype_come_back_bit_for_bit) {
  GraphScope scope;
  for (int d = 0; d < kDTypes; ++d) {
    for (int64_t count : {0, 1, 7, 200}) {
      HostTensor t(Shape(count), static_cast<DType>(d));
      for (int64_t i = 0; i < count; ++i) t.set(i, t.dtype() == boolean ? i % 2 : static_cast<double>(i) / 3);
      constant(t);
    }
  }
  constant(odd_nan());
  constant(HostTensor::of<int64_t>({std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}));
  const Graph parsed = parse_graph(scope.graph().text());
  EXPECT_EQ(parsed.text(), scope.graph().text());
  for (const Operation& op : scope.graph().operations())
    EXPECT_TRUE(parsed.get_operation(op.name()).node()->attrs == op.node()->attrs) << op.name();
}

TEST(text, floats_are_as_short_as_they_can_be) {
  const std::string text = text_of([] { constant(0.1); });
  EXPECT_PRED_FORMAT2(IsSubstring, "value=f32[](0.1)", text);
}

TEST(text, odd_names_are_quoted) {
  const std::string text =
      "martello graph 1\n%\"a b:1\\\"\" = placeholder() {shape=[2]} : f32[2]\n%y = twice(%\"a b:1\\\"\") : f32[2]\n";
  expect_round_trip(text);
}

TEST(text, inputs_may_stand_below_their_users) {
  const std::string text =
      "martello graph 1\n%y = twice(%x) : f32[2]\n%x = placeholder() {shape=[2]} : f32[2] after(%z)\n"
      "%z = placeholder() : f32[]\n";
  expect_round_trip(text);
  EXPECT_EQ(parse_graph(text).operations()[0].name(), "y");
}

TEST(text, equal_symbols_stay_equal_and_new_ones_differ) {
  const Graph g = parse_graph(
      "%a = placeholder() {shape=[?]} : f32[?5]\n%b = placeholder() {shape=[?]} : f32[?5]\n"
      "%c = placeholder() {shape=[?]}\n");
  EXPECT_EQ(g.get_tensor("a").shape(), g.get_tensor("b").shape());
  EXPECT_NE(g.get_tensor("a").shape(), g.get_tensor("c").shape());
  GraphScope scope(g);
  EXPECT_NE(placeholder({kUnknown}, f32, "d").shape(), g.get_tensor("a").shape());
}

TEST(text, comments_blanks_and_missing_parts_are_fine) {
  const Graph g = parse_graph("# a graph\n\n  %x = placeholder( ) { shape = [ 2 ,3 ] } # x\n%y=twice(%x)");
  EXPECT_EQ(g.get_tensor("y").shape(), Shape(2, 3));
  EXPECT_EQ(parse_graph("").size(), 0u);
}

TEST(text, name_scopes_of_parsed_nodes_are_taken) {
  const Graph g = parse_graph("%fc/x = placeholder() {shape=[2]}");
  GraphScope scope(g);
  NameScope fc("fc");
  EXPECT_EQ(placeholder({2}, f32, "x").name(), "fc_1/x");
}

TEST(text, a_lost_gradient_override_keeps_its_name_and_refuses) {
  GraphScope scope;
  const Tensor x = placeholder({2}, f32, "x");
  {
    GradientOverride guided("twice", "guided", [](const GradContext& c) { return c.grads; });
    twice(x);
  }
  const Graph parsed = parse_graph(scope.graph().text());
  EXPECT_EQ(parsed.text(), scope.graph().text());
  const auto& entry = parsed.get_operation("twice").node()->gradient_override;
  ASSERT_TRUE(entry);
  GradContext context;
  context.op = {"twice", "twice"};
  EXPECT_PRED_FORMAT2(IsSubstring, "guided", error_of([&] { entry->fn(context); }));
}

TEST(text, a_body_keeps_its_seed_and_whether_it_initializes) {
  const std::string text =
      "martello graph 1\nseed 3\n%e = every() {body=subgraph() -> (%c) {\n  seed 4\n  initializer\n"
      "  %c = constant() {value=f32[](1)} : f32[]\n}} : f32[2, 3]\n";
  expect_round_trip(text);
  const Subgraph body = parse_graph(text).get_operation("e").node()->attrs.get<EveryAttrs>().body;
  EXPECT_EQ(body.graph().seed(), 4u);
  EXPECT_TRUE(body.graph().impl().is_initializer);
  EXPECT_TRUE(body.graph().is_finalized());
}

TEST(text, default_seed_is_the_graphs) { EXPECT_EQ(Graph().seed(), internal::kDefaultSeed); }

TEST(text_errors, say_line_column_and_near_misses) {
  const std::string x = "%x = placeholder() {shape=[2]}\n";
  EXPECT_PRED_FORMAT2(IsSubstring, "line 2, column 6: there is no op \"twise\". Did you mean 'twice'",
                      parse_error(x + "%y = twise(%x)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "line 2, column 12: there is no node %X1.", parse_error(x + "%y = twice(%X1)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "Did you mean 'input'?", parse_error("%input = placeholder()\n%y = twice(%inptu)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "has no attribute \"axs\"; it has axis. Did you mean 'axis'?",
                      parse_error(x + "%y = halves(%x) {axs=0}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "line 2, column 14: expected ')'", parse_error(x + "%y = twice(%x"));
  EXPECT_PRED_FORMAT2(IsSubstring, "'mode' is one of same, valid, odd name, found \"sane\"",
                      parse_error("%e = every() {mode=sane}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "expected a dtype (f32", parse_error("%e = every() {dtype=f31}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "line 1, column 1: expected a node", parse_error("nonsense"));
  EXPECT_PRED_FORMAT2(IsSubstring, "version 9", parse_error("martello graph 9"));
}

TEST(text_errors, bad_graphs_are_refused) {
  const std::string x = "%x = placeholder() {shape=[4]}\n";
  EXPECT_PRED_FORMAT2(IsSubstring, "%x is defined twice", parse_error(x + x));
  EXPECT_PRED_FORMAT2(IsSubstring, "needs its own output", parse_error("%a = twice(%b)\n%b = twice(%a)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "cycle", parse_error(x + "%a = twice(%x) after(%b)\n%b = twice(%a)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "gives f32[4] but the text says f32[5]", parse_error(x + "%a = twice(%x) : f32[5]"));
  EXPECT_PRED_FORMAT2(IsSubstring, "gives f32[4] but the text says f32[4], f32[4]",
                      parse_error(x + "%a = twice(%x) : f32[4], f32[4]"));
  EXPECT_PRED_FORMAT2(IsSubstring, "%x:1 does not exist: 'x' (placeholder) has 1 outputs",
                      parse_error(x + "%a = twice(%x:1)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "takes 1 inputs but was given 2", parse_error(x + "%a = twice(%x, %x)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "axis 3 is out of range", parse_error(x + "%a = halves(%x) {axis=3}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "line 2, column 1", parse_error(x + "%a = halves(%x) {axis=3}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "given twice", parse_error(x + "%a = halves(%x) {axis=1, axis=0}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "write targets are variables", parse_error(x + "%a = store(%x, %x)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "gpu", parse_error(x + "%a = twice(%x) on(\"gpu\")"));
  EXPECT_PRED_FORMAT2(IsSubstring, "register_host_function", parse_error("%e = every() {function=host(\"unheard\")}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot take Operations",
                      parse_error(x + "collection c = tensors(%x)\ncollection c = operations(%x)"));
  EXPECT_PRED_FORMAT2(IsSubstring, "before the first node", parse_error(x + "seed 3"));
}

TEST(text_errors, hostile_sizes_are_refused_before_memory_is_taken) {
  EXPECT_PRED_FORMAT2(IsSubstring, "the text ends before",
                      parse_error("%c = constant() {value=f32[1000000000000](1)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "the text ends before",
                      parse_error("%c = constant() {value=f32[1000000000000](hex 00)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "4611686018427387904",
                      parse_error("%c = constant() {value=f32[4611686018427387904, 4](1)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "does not fit", parse_error("%c = constant() {value=f32[99999999999999999999](1)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "no unknown dimensions", parse_error("%c = constant() {value=f32[?](1)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "256 is not within [0, 255]", parse_error("%c = constant() {value=u8[1](256)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "does not fit", parse_error("%c = constant() {value=f64[1](1e999)}"));
  EXPECT_PRED_FORMAT2(IsSubstring, "expected ',' after 1 of 2 elements",
                      parse_error("%c = constant() {value=f32[2](1)}"));
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "%c = call() {body=subgraph() -> () {";
  EXPECT_PRED_FORMAT2(IsSubstring, "bodies within each other", parse_error(deep));
  std::string long_shape = "%c = every() {shape=[";
  for (int i = 0; i < 1000; ++i) long_shape += "1,";
  EXPECT_PRED_FORMAT2(IsSubstring, "at most", parse_error(long_shape));
}

TEST(text, a_long_chain_needs_no_deep_stack) {
  std::string text;
  constexpr int kNodes = 20000;
  for (int i = 0; i < kNodes; ++i) text += str("%n", i, " = twice(%n", i + 1, ")\n");
  text += str("%n", kNodes, " = placeholder()\n");
  EXPECT_EQ(parse_graph(text).size(), static_cast<size_t>(kNodes + 1));
}

// What mutation turns a text into either parses, and then prints and parses again to itself, or throws an Error.
TEST(text, mutated_texts_parse_or_throw) {
  std::mt19937 random(20240607);
  const std::string seed_text = rich_graph().text();
  const std::string_view pieces[] = {"%",    "(",        ")",  "{",         "}",
                                     "=",    ":",        ",",  "?",         "[",
                                     "]",    "\"",       "\\", "-1",        "99999999999999999999",
                                     "none", "subgraph", "%x", "hex",       "after(%x)",
                                     "\n",   "f32[",     "?7", "%halves:1", "arg()"};
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int parsed = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed_text;
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0: text.erase(at, 1 + below(12)); break;
        case 1: text[at] = static_cast<char>(random()); break;
        case 2: text.insert(at, pieces[below(std::size(pieces))]); break;
        default: text.insert(at, text.substr(below(text.size()), 1 + below(40)));
      }
      if (text.empty()) text = "x";
    }
    try {
      const std::string once = parse_graph(text).text();
      ++parsed;
      ASSERT_EQ(parse_graph(once).text(), once) << text;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(parsed, 500);
}

TEST(dot, shows_scopes_variables_and_control_edges) {
  const std::string dot = rich_graph().dot();
  EXPECT_PRED_FORMAT2(IsSubstring, "shape=cylinder, label=\"W\\ncell\\nf32[2, 4]\"", dot);
  EXPECT_PRED_FORMAT2(IsSubstring, "label=\"fc\"", dot);
  EXPECT_PRED_FORMAT2(IsSubstring, "[style=dashed]", dot);
  EXPECT_PRED_FORMAT2(IsSubstring, "label=\"body of call\"", dot);
}

}  // namespace
}  // namespace martello
