#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/strings.h>

#include <cstdlib>
#include <limits>

namespace martello {
namespace {

using Texts = std::vector<std::string>;

enum class Fruit { apple };
std::string_view to_string(Fruit) { return "apple"; }
struct Basket {
  std::string str() const { return "basket"; }
};

TEST(Strings, str_takes_text_numbers_enums_and_classes) {
  EXPECT_EQ(str("a", 'b', std::string("c"), -1, 2u, true, 0.5, Fruit::apple, Basket()), "abc-12true0.5applebasket");
}

TEST(Strings, str_writes_the_ends_of_the_integer_ranges) {
  EXPECT_EQ(str(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(str(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(Strings, str_of_a_double_is_the_shortest_text_that_reads_back) {
  EXPECT_EQ(str(0.1), "0.1");
  EXPECT_EQ(str(std::numeric_limits<double>::infinity()), "inf");
  for (double v : {1.0 / 3, 5e-324, -std::numeric_limits<double>::max(), -2.2250738585072014e-308}) {
    EXPECT_EQ(std::strtod(str(v).c_str(), nullptr), v);
  }
}

TEST(Strings, join_puts_the_separator_between) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "", "c"}, "/"), "a//c");
}

TEST(Strings, split_keeps_empty_parts) {
  EXPECT_EQ(split("a/b", '/'), (Texts{"a", "b"}));
  EXPECT_EQ(split("/a//", '/'), (Texts{"", "a", "", ""}));
  EXPECT_EQ(split("", '/'), (Texts{""}));
}

TEST(Strings, quoted_escapes_quotes_backslashes_and_control_bytes) {
  EXPECT_EQ(quoted("a\"b\\c\n\t\x01\x7f"), R"("a\"b\\c\n\t\x01\x7f")");
}

TEST(Strings, quoted_leaves_utf8_readable) { EXPECT_EQ(quoted("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\""); }

TEST(Strings, unquoted_is_the_inverse_of_quoted_for_all_bytes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(unquoted(martello::quoted(all)), all);
  EXPECT_EQ(unquoted(quoted("")), "");
}

TEST(Strings, unquoted_refuses_what_quoted_does_not_write) {
  for (const char* bad :
       {"", "\"", "a", "\"a", R"("a"b")", R"("\q")", R"("\")", R"("\x4")", R"("\xg0")", R"("\x-1")"}) {
    EXPECT_THROW(unquoted(bad), InvalidArgument) << bad;
  }
}

TEST(NearMisses, finds_typos_swaps_and_wrong_case) {
  const Texts names = {"conv1", "relu", "softmax"};
  EXPECT_EQ(near_misses("cnov1", names), Texts{"conv1"});
  EXPECT_EQ(near_misses("sofmax", names), Texts{"softmax"});
  EXPECT_EQ(near_misses("RELU", names), Texts{"relu"});
}

TEST(NearMisses, finds_the_same_end_of_a_path_in_both_directions) {
  EXPECT_EQ(near_misses("conv1/W", {"loss", "tower0/conv1/W"}), Texts{"tower0/conv1/W"});
  EXPECT_EQ(near_misses("tower0/conv1/W", {"conv1/W", "W2"}), Texts{"conv1/W"});
}

TEST(NearMisses, end_of_a_path_means_whole_parts) {
  EXPECT_TRUE(near_misses("W", {"some_other_layer/rowW"}).empty());
  EXPECT_TRUE(near_misses("", {"a/", "b"}).empty());
}

TEST(NearMisses, best_comes_first_and_the_limit_holds) {
  const Texts names = {"conv1_xy", "conv1_x", "conv1", "conv12"};
  EXPECT_EQ(near_misses("conv12", names, 2), (Texts{"conv12", "conv1"}));
}

TEST(NearMisses, another_word_is_no_miss) {
  EXPECT_TRUE(near_misses("relu", {"tanh", "x", ""}).empty());
  EXPECT_TRUE(near_misses("x", {"y"}).empty());
}

TEST(NearMisses, did_you_mean_is_a_sentence_or_nothing) {
  EXPECT_EQ(did_you_mean("fc1", {"fc2", "fc0", "conv"}), " Did you mean 'fc2', 'fc0'?");
  EXPECT_EQ(did_you_mean("fc1", {"loss"}), "");
}

}  // namespace
}  // namespace martello
