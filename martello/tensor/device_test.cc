#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/tensor/device.h>

namespace martello {
namespace {

using testing::error_of;

TEST(Device, parse_reads_kind_and_number) {
  EXPECT_EQ(Device::parse("cpu"), (Device{DeviceKind::cpu, 0}));
  EXPECT_EQ(Device::parse("cpu:3"), (Device{DeviceKind::cpu, 3}));
  EXPECT_EQ(Device::parse("cuda:0"), (Device{DeviceKind::cuda, 0}));
  EXPECT_EQ(Device::parse("cuda:12"), (Device{DeviceKind::cuda, 12}));
}

TEST(Device, text_reads_back) { EXPECT_EQ(Device::parse(Device{DeviceKind::cuda, 2}.str()).str(), "cuda:2"); }

TEST(Device, parse_refuses_everything_else_and_repeats_it) {
  for (const char* bad : {"", "gpu:0", "CPU", "cpu:", "cpu:-1", "cpu:+1", "cpu:01", "cpu:1x", "cpu: 1",
                          "cpu:99999999999", ":0", "cpu0", "cpu:0:1", " cpu"}) {
    const std::string text = error_of<InvalidArgument>([&] { Device::parse(bad); });
    EXPECT_CONTAINS(text, "'" + std::string(bad) + "' is not a device");
  }
}

TEST(Device, devices_are_ordered_by_kind_then_number) {
  EXPECT_LT(Device::parse("cpu:9"), Device::parse("cuda:0"));
  EXPECT_LT(Device::parse("cpu:1"), Device::parse("cpu:2"));
}

}  // namespace
}  // namespace martello
