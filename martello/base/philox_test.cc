#include <gtest/gtest.h>
#include <martello/base/philox.h>

#include <set>
#include <string>

namespace martello {
namespace {

using Counter = Philox::Counter;

// The known answers that come with the paper (Salmon et al., Parallel random numbers: as easy as 1, 2, 3).
TEST(Philox, known_answer_for_zeros) {
  EXPECT_EQ(Philox::block({}, {}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, known_answer_for_ones) {
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox::block({ones, ones, ones, ones}, {ones, ones}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, known_answer_for_digits_of_pi) {
  EXPECT_EQ(Philox::block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, is_a_constant_expression) { static_assert(Philox::block({}, {})[0] == 0x6627e8d5); }

TEST(Uniform, ends_of_the_range_stay_below_one) {
  EXPECT_EQ(uniform_f32(0), 0.f);
  EXPECT_EQ(uniform_f32(0xffffffff), 1.f - 0x1p-24f);
  EXPECT_EQ(uniform_f64(0, 0), 0.);
  EXPECT_EQ(uniform_f64(0xffffffff, 0xffffffff), 1. - 0x1p-53);
}

TEST(StableHash, never_changes) {
  EXPECT_EQ(stable_hash(""), 0xc70b7d317e33bf45u);
  EXPECT_EQ(stable_hash("conv1/W"), 0xf7c1fbfa6157e6f9u);
  EXPECT_EQ(stable_hash("conv1/W", 42), 0xef1d7acec3a2825au);
}

TEST(StableHash, differs_by_text_and_seed) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (int i = 0; i < 200; ++i) seen.insert(stable_hash(std::to_string(i), seed));
  }
  EXPECT_EQ(seen.size(), 200u * 200u);
}

TEST(StableHash, bytes_above_127_are_the_same_whether_char_is_signed) {
  EXPECT_EQ(stable_hash("\xff"), 0xef8d805de062225cu);
}

}  // namespace
}  // namespace martello
