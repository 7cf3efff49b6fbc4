#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace martello {

enum class DeviceKind : uint8_t { cpu, cuda };
std::string_view to_string(DeviceKind kind);

inline constexpr int kMostVirtualDevices = 64;

// Where a node runs: "cpu:0" ... Virtual CPU devices run in parallel as threads of their own.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;

  // "cpu", "cpu:3", "cuda:0"; InvalidArgument for anything else.
  static Device parse(std::string_view text);
  std::string str() const;
  bool operator==(const Device&) const = default;
  auto operator<=>(const Device&) const = default;
};

}  // namespace martello
