#include <martello/graph/collections.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/summary.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

namespace martello::testing {
namespace {

HostTensors same(const HostTensors& in) { return in; }

OP_TEST(summary,
        {.label = "histogram",
         .inputs = {randn({3, 217})},
         .build = [](TensorList in) { return TensorList{create_histogram_summary("w", in[0])}; },
         .reference = same},
        {.label = "scalar",
         .inputs = {randn({})},
         .build = [](TensorList in) { return TensorList{create_scalar_summary("größe/\"x\"", in[0])}; },
         .reference = same,
         .second_order = true},
        {.label = "integers",
         .inputs = {integers({4}, 0, 9)},
         .build = [](TensorList in) { return TensorList{create_histogram_summary("w", in[0])}; },
         .reference = same,
         .gradient = false},
        {.label = "images",
         .inputs = {randn({2, 3, 4, 1})},
         .build = [](TensorList in) { return TensorList{create_image_summary("w", in[0])}; },
         .reference = same});

OP_REFUSES(summary, a_scalar_with_axes, [] { create_scalar_summary("loss", placeholder({2}, f32, "x")); },
           {"a scalar is asked for, but x is [2]"});
OP_REFUSES(summary, images_of_two_channels,
           [] {
             create_image_summary("i", placeholder({2, 3, 4, 2}, f32, "x"));
           },
           {"[N, H, W, 1 | 3 | 4], but x is [2, 3, 4, 2]"});
OP_REFUSES(summary, an_empty_tag, [] { create_scalar_summary("", placeholder({}, f32, "x")); }, {"has no tag"});

TEST(summary, an_entry_knows_tag_kind_and_value) {
  GraphScope g;
  const Tensor x = placeholder({3}, f32, "x");
  const Summary s = summary_of(create_histogram_summary("weights", x));
  EXPECT_EQ(s.tag, "weights");
  EXPECT_EQ(s.kind, SummaryKind::histogram);
  EXPECT_EQ(s.value, x);
}

TEST(summary, a_bare_scalar_is_shown_under_its_name) {
  GraphScope g;
  const Tensor x = placeholder({}, f32, "tower0/loss");
  EXPECT_EQ(summary_of(x).tag, "loss");
  EXPECT_THROW(summary_of(placeholder({2}, f32, "y")), InvalidArgument);
}

TEST(summary, entries_survive_the_text_of_the_graph) {
  GraphScope g;
  g.graph().collections().add(kSummaries, create_histogram_summary("a b", placeholder({3}, f32, "x")));
  const Graph read = parse_graph(g.graph().text());
  const auto entries = read.collections().get(kSummaries);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(summary_of(entries[0]).tag, "a b");
  EXPECT_EQ(summary_of(entries[0]).kind, SummaryKind::histogram);
}

TEST(summary, tower_prefixes_are_removed_wherever_they_stand) {
  EXPECT_EQ(without_tower_prefix("tower0/conv1/W"), "conv1/W");
  EXPECT_EQ(without_tower_prefix("a/tower12/tower3/b"), "a/b");
  EXPECT_EQ(without_tower_prefix("mytower0/x"), "mytower0/x");
  EXPECT_EQ(without_tower_prefix("tower/x"), "tower/x");
  EXPECT_EQ(without_tower_prefix("tower1"), "tower1");
  EXPECT_EQ(without_tower_prefix("tower1/"), "");
  EXPECT_EQ(without_tower_prefix(""), "");
}

}  // namespace
}  // namespace martello::testing
