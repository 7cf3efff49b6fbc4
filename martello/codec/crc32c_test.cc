#include <martello/codec/crc32c.h>
#include <martello/codec/internal/read_events.h>

#include <gtest/gtest.h>

#include <string>

namespace martello {
namespace {

TEST(crc32c, is_that_of_the_standard) { EXPECT_EQ(crc32c("123456789"), 0xe3069283u); }

TEST(crc32c, of_any_length_and_in_any_pieces) {
  std::string bytes;
  for (uint32_t i = 0, x = 1; i < 40000; ++i) bytes += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const size_t size : {0u, 1u, 7u, 8u, 4096u, 12287u, 12288u, 12289u, 24576u, 24583u, 39999u}) {
    const std::string_view part(bytes.data() + 1, size);
    const uint32_t expected = testing::slow_crc32c(part);
    EXPECT_EQ(crc32c(part), expected) << size;
    EXPECT_EQ(crc32c(part.substr(size / 3), crc32c(part.substr(0, size / 3))), expected) << size;
  }
}

}  // namespace
}  // namespace martello
