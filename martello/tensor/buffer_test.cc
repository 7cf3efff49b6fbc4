#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/meminfo.h>
#include <martello/tensor/buffer.h>

#include <cstring>
#include <limits>

namespace martello {
namespace {

using testing::error_of;

int64_t misalignment(const Buffer& buffer, int64_t alignment) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer.data()) % static_cast<uintptr_t>(alignment));
}

TEST(Buffer, is_aligned_and_writable_to_the_last_byte) {
  constexpr int64_t kHuge = int64_t{32} << 20;
  for (int64_t bytes : {int64_t{1}, int64_t{63}, int64_t{65}, kHuge - 1, kHuge, kHuge + 1}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(misalignment(buffer, bytes >= kHuge ? int64_t{2} << 20 : Buffer::kAlignment), 0);
    std::memset(buffer.data(), 1, static_cast<size_t>(bytes));
  }
}

TEST(Buffer, of_zero_bytes_is_legal_and_unique) {
  const Buffer buffer(0);
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_TRUE(buffer);
  EXPECT_TRUE(buffer.unique());
}

TEST(Buffer, by_default_holds_nothing) { EXPECT_FALSE(Buffer()); }

TEST(Buffer, copies_share_the_bytes) {
  const Buffer buffer(8);
  {
    const Buffer copy = buffer;
    EXPECT_EQ(copy.data(), buffer.data());
    EXPECT_FALSE(buffer.unique());
  }
  EXPECT_TRUE(buffer.unique());
}

TEST(Buffer, more_than_the_machine_has_is_refused_with_the_size) {
  for (int64_t bytes : {int64_t{1} << 50, std::numeric_limits<int64_t>::max()}) {
    const std::string text = error_of<InvalidArgument>([&] { const Buffer buffer(bytes); });
    EXPECT_EQ(text.rfind("[buffer] cannot allocate " + std::to_string(bytes) + " bytes on cpu:0; ", 0), 0u) << text;
    EXPECT_NE(text.find(" are available."), std::string::npos) << text;
  }
}

TEST(Buffer, more_than_the_machine_has_left_is_refused_before_it_is_touched) {
  const int64_t all = meminfo_bytes("MemTotal").value() + meminfo_bytes("SwapTotal").value_or(0);
  EXPECT_THROW(Buffer(all - (int64_t{1} << 20)), InvalidArgument);
}

TEST(Buffer, a_negative_size_is_refused) { EXPECT_THROW(Buffer(-1), InvalidArgument); }

TEST(Buffer, a_device_without_memory_is_refused) {
  EXPECT_THROW(Buffer(8, Device{DeviceKind::cuda, 0}), InvalidArgument);
}

}  // namespace
}  // namespace martello
