#include <martello/passes/internal/pass_test.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;

constexpr const char* kX = "%x = placeholder() {shape=[2, 3]}\n";

void expect_simple(const std::string& before, const Names& fetches, const std::string& after,
                   const Names& fetches_after) {
  EXPECT_EQ(text_after(simplify, before, fetches), same_text(after, fetches_after)) << before;
}
// `nodes` compute %y of %x [2, 3].
void expect_x(const std::string& nodes) { expect_simple(kX + nodes, {"y"}, kX, {"x"}); }
void expect_becomes(const std::string& nodes, const std::string& after) {
  expect_simple(kX + nodes, {"y"}, kX + after, {"y"});
}
void expect_kept(const std::string& nodes) { expect_becomes(nodes, nodes); }

TEST(simplify, drops_nodes_that_pass_their_input_on) {
  expect_x("%y = identity(%x)");
  expect_x("%a = stop_gradient(%x)  %y = identity(%a)");
  expect_x("%y = reshape(%x) {shape=[2, ?]}");
  expect_x("%y = flatten(%x)");
  expect_x("%y = cast(%x) {dtype=f32}");
  expect_x("%y = add_n(%x)");
  expect_x("%y = concat(%x) {axis=1}");
  expect_x("%y = slice(%x) {begin=[0, 0], size=[2, -1]}");
  expect_x("%y = broadcast_to(%x) {shape=[2, 3]}");
  expect_x("%a = exp(%x)  %y = custom_gradient(%x, %a)");
}

TEST(simplify, keeps_a_node_that_orders_others) {
  expect_kept("%y = identity(%x) after(%x)");
  expect_kept("%a = negative(%x) after(%x)  %y = negative(%a)");
}

TEST(simplify, drops_neutral_numbers) {
  const std::string one = "%c = constant() {value=f32[](1)}\n", zero = "%c = constant() {value=f32[](0)}\n";
  expect_x(one + "%y = multiply(%x, %c)");
  expect_x(one + "%y = multiply(%c, %x)");
  expect_x(one + "%y = divide(%x, %c)");
  expect_x(one + "%y = pow(%x, %c)");
  expect_x(zero + "%y = subtract(%x, %c)");
  expect_x("%c = constant() {value=f32[](-0)}\n%y = add(%x, %c)");
  expect_x("%c = fill() {shape=[3], value=1}\n%y = multiply(%x, %c)");
}

TEST(simplify, takes_what_is_known_to_be_chosen) {
  const std::string other = "%o = negative(%x)  ";
  expect_x(other + "%c = fill() {shape=[], value=1, dtype=bool}  %y = where(%c, %x, %o)");
  expect_x(other + "%c = fill() {shape=[3], value=0, dtype=bool}  %y = where(%c, %o, %x)");
  expect_kept("%c = fill() {shape=[4, 2, 3], value=1, dtype=bool}  %y = where(%c, %x, %x)");
}

TEST(simplify, keeps_numbers_that_change_bits_or_shapes) {
  const std::string one = "%c = constant() {value=f32[](1)}\n", zero = "%c = constant() {value=f32[](0)}\n";
  expect_kept(zero + "%y = add(%x, %c)");
  expect_kept(zero + "%y = subtract(%c, %x)");
  expect_kept(one + "%y = divide(%c, %x)");
  expect_kept("%c = constant() {value=f32[](-0)}\n%y = subtract(%x, %c)");
  expect_kept("%c = fill() {shape=[4, 2, 3], value=1}\n%y = multiply(%x, %c)");
  expect_kept("%c = constant() {value=f32[](2)}\n%a = multiply(%x, %c)  %y = multiply(%a, %c)");
}

TEST(simplify, knows_integers_and_doubles) {
  const std::string integers = "%x = placeholder() {shape=[2], dtype=i32}\n";
  expect_simple(integers + "%c = constant() {value=i32[](0)}\n%y = add(%x, %c)", {"y"}, integers, {"x"});
  const std::string doubles =
      "%x = placeholder() {shape=[2], dtype=f64}\n%c = constant() {value=f64[](1)}\n%y = pow(%x, %c)";
  expect_simple(doubles, {"y"}, doubles, {"y"});
}

TEST(simplify, drops_signs_that_do_not_matter) {
  expect_x("%a = negative(%x)  %y = negative(%a)");
  expect_becomes("%a = negative(%x)  %y = square(%a)", "%y = square(%x)");
  expect_becomes("%a = abs(%x)  %y = square(%a)", "%y = square(%x)");
  expect_becomes("%a = negative(%x)  %b = abs(%a)  %y = abs(%b)", "%y = abs(%x)");
}

TEST(simplify, drops_casts_that_lose_nothing) {
  expect_x("%a = cast(%x) {dtype=f64}  %y = cast(%a)");
  expect_kept("%a = cast(%x) {dtype=i32}  %y = cast(%a)");
}

TEST(simplify, sums_few_by_add) {
  expect_becomes("%a = exp(%x)  %y = add_n(%x, %a)", "%a = exp(%x)  %y = add(%x, %a)");
  expect_simple(std::string(kX) + "%a = exp(%x)  %y = add_n(%x, %a, %x)", {"y"},
                std::string(kX) + "%a = exp(%x)  %y = add(%y/add, %x)  %y/add = add(%x, %a)", {"y"});
}

TEST(simplify, joins_reshapes) {
  const std::string after = "%y = reshape(%x) {shape=[3, 2]}";
  expect_becomes("%a = reshape(%x) {shape=[6]}  %y = reshape(%a) {shape=[3, ?]}", after);
  expect_becomes("%a = expand_dims(%x) {axis=1}  %b = flatten(%a)  %y = reshape(%b) {shape=[?, 2]}", after);
  expect_x("%a = expand_dims(%x) {axis=1}  %y = squeeze(%a)");
  expect_becomes("%y = stack(%x) {axis=1}", "%y = reshape(%x) {shape=[2, 1, 3]}");
}

TEST(simplify, joins_transposes) {
  expect_x("%a = transpose(%x)  %y = transpose(%a) {perm=[1, 0]}");
  const std::string x = "%x = placeholder() {shape=[2, 3, 4]}\n";
  expect_simple(x + "%a = transpose(%x) {perm=[1, 2, 0]}  %y = transpose(%a) {perm=[1, 2, 0]}", {"y"},
                x + "%y = transpose(%x) {perm=[2, 0, 1]}", {"y"});
  const std::string row = "%x = placeholder() {shape=[1, 3, 4]}\n";
  expect_simple(row + "%y = transpose(%x) {perm=[1, 0, 2]}", {"y"}, row + "%y = reshape(%x) {shape=[3, 1, 4]}", {"y"});
}

TEST(simplify, multiplies_transposed_matrices_as_they_are) {
  expect_becomes("%a = transpose(%x)  %y = matmul(%a, %x)", "%y = matmul(%x, %x) {transpose_a=true}");
  expect_becomes("%a = transpose(%x)  %y = matmul(%x, %a)", "%y = matmul(%x, %x) {transpose_b=true}");
  expect_becomes("%a = transpose(%x)  %y = matmul(%a, %a) {transpose_a=true}",
                 "%y = matmul(%x, %x) {transpose_b=true}");
}

TEST(simplify, sums_gradients_along_known_axes) {
  const std::string g = "%g = placeholder() {shape=[4, 2, 3]}\n";
  const auto expect_sum = [&](const std::string& shape, const std::string& after) {
    expect_simple(g + "%x = placeholder() {shape=" + shape + "}\n%y = sum_to_like(%g, %x)", {"y"}, g + after, {"y"});
  };
  expect_simple(g + "%x = placeholder() {shape=[4, 2, 3]}\n%y = sum_to_like(%g, %x)", {"y"}, g, {"g"});
  expect_sum("[2, 3]", "%y = reduce_sum(%g) {axes=[0]}");
  expect_sum("[4, 1, 3]", "%y = reduce_sum(%g) {axes=[1], keep_dims=true}");
  expect_sum("[2, 1]", "%y = reshape(%y/reduce_sum) {shape=[2, 1]}  %y/reduce_sum = reduce_sum(%g) {axes=[0, 2]}");
  expect_sum("[]", "%y = reduce_sum(%g) {axes=[0, 1, 2]}");
}

TEST(simplify, broadcasts_where_it_is_needed) {
  const std::string like = "%like = placeholder() {shape=[2, 3]}\n", b = "%b = placeholder() {shape=[3]}\n";
  expect_simple(like + b + "%y = broadcast_like(%b, %like)", {"y"}, b + "%y = broadcast_to(%b) {shape=[2, 3]}", {"y"});
  expect_simple(std::string(kX) + b + "%a = broadcast_like(%b, %x)  %y = multiply(%a, %x)", {"y"},
                std::string(kX) + b + "%y = multiply(%b, %x)", {"y"});
  const std::string both = b + "%y = broadcast_to(%b) {shape=[2, 3]}  %z = square(%y)  %w = add(%b, %y)";
  expect_simple(both, {"w", "z"}, both, {"w", "z"});
}

TEST(simplify, makes_two_spellings_one_graph) {
  const auto simple = [](const std::string& nodes) { return text_after(simplify, kX + nodes, {"y"}); };
  EXPECT_EQ(simple("%y = flatten(%x)"), simple("%a = transpose(%x)  %y = transpose(%a)"));
  EXPECT_EQ(simple("%y = expand_dims(%x) {axis=0}"), simple("%a = squeeze(%x)  %y = reshape(%a) {shape=[1, 2, 3]}"));
}

TEST(simplify, keeps_writes_that_nothing_reads_any_more) {
  PlanGraph plan = parse_plan(R"(
    %x = placeholder() {shape=[2]}
    %v = variable() {shape=[2], initializer=subgraph() -> (%zeros) {
      initializer
      %zeros = fill() {shape=[2]}
    }}
    %assign = assign(%v, %x)
    %fresh = read_variable(%v) after(%assign)
    %y = sum_to_like(%x, %fresh))",
                              {"y"});
  EXPECT_TRUE(simplify(plan));
  EXPECT_EQ(plan.fetches[0].name(), "x");
  ASSERT_EQ(plan.targets.size(), 1u);
  EXPECT_EQ(plan.targets[0].name(), "assign");
}

TEST(simplify, changes_nothing_twice) {
  PlanGraph plan = parse_plan(std::string(kX) + "%a = transpose(%x)  %y = matmul(%a, %x)", {"y"});
  EXPECT_TRUE(simplify(plan));
  EXPECT_FALSE(simplify(plan));
}

}  // namespace
}  // namespace martello
