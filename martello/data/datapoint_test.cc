#include <martello/data/internal/test_flow.h>

namespace martello {
namespace {

TEST(Datapoint, components_by_index) {
  const Datapoint dp{1.5f, int64_t{3}, HostTensor({2, 2}, u8)};
  ASSERT_EQ(dp.size(), 3u);
  EXPECT_EQ(dp[0].scalar<float>(), 1.5f);
  EXPECT_EQ(dp[1].scalar<int64_t>(), 3);
  EXPECT_EQ(dp.num_bytes(), 4 + 8 + 4);
  EXPECT_EQ(dp.signature(), "(f32[], i64[], u8[2, 2])");
}

TEST(Datapoint, components_by_key) {
  auto dp = Datapoint().set("image", HostTensor({2}, f32)).set("label", 3);
  dp.set("label", 4);
  EXPECT_EQ(dp.size(), 2u);
  EXPECT_EQ(dp["label"].scalar<int>(), 4);
  EXPECT_EQ(dp.keys(), (std::vector<std::string>{"image", "label"}));
  EXPECT_EQ(dp.signature(), "(image f32[2], label i32[])");
}

TEST(Datapoint, refuses_what_does_not_exist) {
  const auto dp = Datapoint().set("image", 1).set("label", 3);
  EXPECT_ERROR(dp["lable"], "no component has this key; there are (image i32[], label i32[]). Did you mean 'label'?");
  EXPECT_ERROR(dp[2], "component 2 of a datapoint with 2");
  EXPECT_ERROR(Datapoint(1, 2).set("x", 3), "cannot be added by key: the 2 components before it have none");
  EXPECT_ERROR(Datapoint().set("x", 3).push_back(1), "component 1 has no key");
  EXPECT_ERROR(Datapoint().set("", 3), "a key is empty");
}

TEST(Datapoint, copies_share_bytes_until_one_is_written) {
  const Datapoint first{HostTensor::of<float>({1, 2})};
  Datapoint second = first;
  EXPECT_EQ(first[0].raw(), second[0].raw());
  second[0].mutable_data<float>()[0] = 9;
  EXPECT_EQ(first[0].data<float>()[0], 1);
  EXPECT_FALSE(first.same_bits(second));
}

TEST(Datapoint, text_shows_ranges) {
  const Datapoint dp{HostTensor::of<float>({3, -1, 2}), 5, HostTensor({0}, f32)};
  EXPECT_EQ(dp.str(), "(f32[3] in [-1, 3], i32[] = 5, f32[0] empty)");
}

}  // namespace
}  // namespace martello
