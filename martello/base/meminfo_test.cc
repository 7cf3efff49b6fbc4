#include <gtest/gtest.h>
#include <martello/base/meminfo.h>

#include <unistd.h>

namespace martello {
namespace {

TEST(Meminfo, tells_what_the_machine_has) {
  const int64_t pages = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  EXPECT_EQ(meminfo_bytes("MemTotal"), pages);
  ASSERT_TRUE(meminfo_bytes("MemAvailable"));
  EXPECT_GT(*meminfo_bytes("MemAvailable"), 0);
  EXPECT_LE(*meminfo_bytes("MemAvailable"), pages);
}

TEST(Meminfo, a_field_that_is_not_there_has_no_size) {
  EXPECT_FALSE(meminfo_bytes("MemAvail"));
  EXPECT_FALSE(meminfo_bytes(""));
}

}  // namespace
}  // namespace martello
