#include <martello/graph/internal/test_ops.h>
#include <martello/graph/node.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using namespace testing;
using ::testing::IsSubstring;

constexpr CollectionKey<Tensor> kMine{"mine"};
constexpr CollectionKey<Operation> kMineToo{"mine"};

TEST(graph, finds_tensors_and_operations_by_name) {
  GraphScope scope;
  const TensorList h = halves(placeholder({4}, f32, "fc/input"));
  EXPECT_EQ(scope.graph().get_tensor("halves:1"), h[1]);
  EXPECT_EQ(scope.graph().get_operation("halves"), h[0].op());
  EXPECT_EQ(scope.graph().find_tensor("halves:2"), std::nullopt);
  EXPECT_EQ(scope.graph().find_tensor("halves:x"), std::nullopt);
  EXPECT_EQ(h[1].name(), "halves:1");
  EXPECT_EQ(scope.graph().operations().size(), 2u);
}

TEST(graph, get_says_near_misses) {
  GraphScope scope;
  halves(placeholder({4}, f32, "fc/input"));
  const Graph g = scope.graph();
  EXPECT_THROW(g.get_tensor("fc/inptu"), NotFound);
  EXPECT_PRED_FORMAT2(IsSubstring, "Did you mean 'fc/input'?", error_of([&] { g.get_tensor("fc/inptu"); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "Did you mean 'fc/input'?", error_of([&] { g.get_operation("input"); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "has 2 outputs", error_of([&] { g.get_tensor("halves:5"); }));
}

TEST(graph, finalize_refuses_later_edits) {
  GraphScope scope;
  const Tensor x = placeholder({4}, f32, "x");
  scope.graph().finalize();
  EXPECT_TRUE(scope.graph().is_finalized());
  EXPECT_THROW(twice(x), FailedPrecondition);
  EXPECT_THROW(scope.graph().set_seed(1), FailedPrecondition);
  EXPECT_THROW(scope.graph().collections().add(kMine, x), FailedPrecondition);
  EXPECT_PRED_FORMAT2(IsSubstring, "after finalize()", error_of([&] { twice(x); }));
  EXPECT_EQ(scope.graph().size(), 1u);
}

TEST(graph, refuses_a_tensor_of_another_graph) {
  Tensor x;
  GraphScope outer;
  x = placeholder({4}, f32, "x");
  GraphScope inner;
  EXPECT_THROW(twice(x), InvalidArgument);
  EXPECT_PRED_FORMAT2(IsSubstring, "'x' belongs to another graph", error_of([&] { twice(x); }));
}

TEST(graph, refuses_null_tensors_with_the_line) {
  GraphScope scope;
  EXPECT_PRED_FORMAT2(IsSubstring, "null Tensor", error_of([] { twice(Tensor()); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "graph_test.cc:", error_of([] { twice(Tensor()); }));
}

TEST(graph, refuses_names_that_text_and_feeds_could_not_tell_apart) {
  GraphScope scope;
  for (const char* name : {"", "a b", "a:1", "%a", "a/"})
    EXPECT_THROW(placeholder({2}, f32, name), InvalidArgument) << name;
}

TEST(graph, without_a_scope_says_how_to_open_one) {
  EXPECT_THROW(Graph::current(), FailedPrecondition);
  EXPECT_PRED_FORMAT2(IsSubstring, "GraphScope scope(graph);", error_of([] { placeholder({2}, f32, "x"); }));
  EXPECT_EQ(Graph::current_or_new().size(), 0u);
}

TEST(graph, shape_errors_show_node_and_line) {
  GraphScope scope;
  const Tensor a = placeholder({4}, f32, "a"), b = placeholder({2, 2}, f32, "b");
  const std::string error = error_of([&] { sum(a, b, "fc/sum"); });
  EXPECT_PRED_FORMAT2(IsSubstring, "[sum 'fc/sum'] a is f32[4] but b is f32[2, 2].", error);
  EXPECT_PRED_FORMAT2(IsSubstring, str("graph_test.cc:", __LINE__ - 2), error);
  EXPECT_EQ(scope.graph().size(), 2u) << "a refused node leaves no trace";
}

TEST(graph, numbers_take_the_dtype_of_the_tensor_beside_them) {
  GraphScope scope;
  const Tensor x = placeholder({}, f64, "x"), i = placeholder({}, u8, "i");
  EXPECT_EQ(sum(x, 2).node()->inputs[1].dtype(), f64);
  EXPECT_EQ(sum(3, i).node()->inputs[0].dtype(), u8);
  EXPECT_PRED_FORMAT2(IsSubstring, "0.5 is not a u8", error_of([&] { sum(i, 0.5); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "256 is not a u8", error_of([&] { sum(i, 256); }));
}

TEST(graph, unknown_dimensions_get_symbols_of_their_own) {
  GraphScope scope;
  const Tensor a = placeholder({kUnknown}, f32, "a"), b = placeholder({kUnknown}, f32, "b");
  EXPECT_EQ(a.dim(0), kUnknown);
  EXPECT_NE(a.shape(), b.shape());
  EXPECT_EQ(twice(a).shape(), a.shape());
}

TEST(graph, hostile_shapes_are_refused) {
  GraphScope scope;
  EXPECT_THROW(placeholder({int64_t{1} << 62, 4}, f32, "x"), InvalidArgument);
  EXPECT_THROW(placeholder({-7}, f32, "x"), InvalidArgument);
}

TEST(graph, seed_is_fixed_by_the_first_random_op_only) {
  GraphScope scope;
  placeholder({2}, f32, "x");
  scope.graph().set_seed(5);
  EXPECT_EQ(scope.graph().seed(), 5u);
}

TEST(collections, are_typed_lists_in_order) {
  GraphScope scope;
  const Tensor a = placeholder({2}, f32, "a"), b = placeholder({2}, f32, "b");
  Collections& c = scope.graph().collections();
  c.add(kMine, b);
  c.add(kMine, a);
  c.add(kUpdateOps, a.op());
  EXPECT_EQ(c.get(kMine), (std::vector<Tensor>{b, a}));
  EXPECT_TRUE(c.get(kLosses).empty());
  c.set(kMine, {a});
  EXPECT_EQ(c.get(kMine).size(), 1u);
  EXPECT_EQ(c.keys().size(), 2u);
}

TEST(collections, one_name_holds_one_type) {
  GraphScope scope;
  const Tensor a = placeholder({2}, f32, "a");
  scope.graph().collections().add(kMine, a);
  EXPECT_PRED_FORMAT2(IsSubstring, "[collection 'mine']",
                      error_of([&] { scope.graph().collections().add(kMineToo, a.op()); }));
}

TEST(tensor_list, is_read_by_index_and_by_name) {
  GraphScope scope;
  const TensorList list = {placeholder({2}, f32, "tower0/image"), placeholder({2}, f32, "label")};
  EXPECT_EQ(list["label"], list[1]);
  EXPECT_EQ(list["image"], list[0]) << "the last part of a name is enough";
  const auto [image, label] = list.unpack<2>();
  EXPECT_EQ(image, list[0]);
  EXPECT_EQ(label, list[1]);
}

TEST(tensor_list, bad_access_says_what_it_holds) {
  GraphScope scope;
  const TensorList list = {placeholder({2}, f32, "image"), placeholder({2}, f32, "label")};
  EXPECT_PRED_FORMAT2(IsSubstring, "tensor 5 of 2 (image, label)", error_of([&] { list[5]; }));
  EXPECT_PRED_FORMAT2(IsSubstring, "Did you mean 'label'?", error_of([&] { list["lable"]; }));
  EXPECT_PRED_FORMAT2(IsSubstring, "unpacks 3 tensors but holds 2", error_of([&] { list.unpack<3>(); }));
  EXPECT_THROW(list["lable"], NotFound);
}

TEST(ops, registering_a_second_op_of_a_name_is_refused) {
  static constexpr OpDef other = {.name = "twice",
                                  .shape = [](const ShapeContext&) { return std::vector<TensorSpec>(); }};
  EXPECT_THROW(register_op(other), InvalidArgument);
  EXPECT_EQ(find_op("twice"), &op_twice);
  EXPECT_EQ(find_op("thrice"), nullptr);
}

TEST(attrs, equal_ones_have_equal_hashes) {
  EveryAttrs a, b;
  a.value = HostTensor::of<float>({1, 2});
  b.value = HostTensor::of<float>({1, 2});
  EXPECT_TRUE(Attrs(a) == Attrs(b));
  EXPECT_EQ(Attrs(a).hash(), Attrs(b).hash());
  b.value.mutable_data<float>()[1] = 3;
  EXPECT_FALSE(Attrs(a) == Attrs(b));
  EXPECT_NE(Attrs(a).hash(), Attrs(b).hash());
  b = a;
  b.mode = Mode::valid;
  EXPECT_NE(Attrs(a).hash(), Attrs(b).hash());
}

}  // namespace
}  // namespace martello
