#include <martello/base/internal/test_text.h>
#include <martello/base/name_pattern.h>

namespace martello {
namespace {

TEST(name_pattern, matches_whole_names_and_is_found_in_parts) {
  const NamePattern whole("fc/.*", "test"), part("fc", "test");
  EXPECT_TRUE(whole.matches("fc/W"));
  EXPECT_FALSE(part.matches("fc/W"));
  EXPECT_TRUE(part.is_found_in("fc/W"));
  EXPECT_FALSE(part.is_found_in("conv/W"));
  EXPECT_EQ(whole.text(), "fc/.*");
}

TEST(name_pattern, says_who_gave_what_cannot_be_read) {
  EXPECT_CONTAINS(testing::error_of<InvalidArgument>([] { NamePattern("a(", "map_gradient"); }),
                  "[map_gradient] 'a(' is no regular expression");
}

}  // namespace
}  // namespace martello
