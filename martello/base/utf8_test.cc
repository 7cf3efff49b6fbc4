#include <gtest/gtest.h>
#include <martello/base/utf8.h>

namespace martello {
namespace {

TEST(Utf8, is_what_the_standard_says) {
  for (const char* good :
       {"", "a", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\xff", "\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
  EXPECT_TRUE(is_utf8(std::string_view("\0\x7f", 2)));
}

TEST(Utf8, other_bytes_are_replaced_one_by_one) {
  EXPECT_EQ(as_utf8("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(as_utf8("a\xff\xc3z"), "a\xef\xbf\xbd\xef\xbf\xbdz");
  EXPECT_EQ(as_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_TRUE(is_utf8(as_utf8(all)));
}

}  // namespace
}  // namespace martello
