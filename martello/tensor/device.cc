#include <martello/base/error.h>
#include <martello/tensor/device.h>

#include <charconv>

namespace martello {
namespace {

constexpr std::string_view kKindNames[] = {"cpu", "cuda"};

bool parse_into(Device& device, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (kind != "cpu" && kind != "cuda") return false;
  device.kind = kind == "cpu" ? DeviceKind::cpu : DeviceKind::cuda;
  if (colon == std::string_view::npos) return true;
  const std::string_view index = text.substr(colon + 1);
  std::from_chars(index.data(), index.data() + index.size(), device.index);
  // One spelling per device: no "cpu:", "cpu:-1", "cpu:07" or "cpu:1x".
  return device.index >= 0 && device.str() == text;
}

}  // namespace

std::string_view to_string(DeviceKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

Device Device::parse(std::string_view text) {
  Device device;
  MARTELLO_CHECK(parse_into(device, text), "[device] '", text,
                 "' is not a device. Write the kind, cpu or cuda, and its number: cpu:0, cuda:1.");
  MARTELLO_CHECK(device.kind != DeviceKind::cpu || device.index < kMostVirtualDevices, "[device] '", text,
                 "' is beyond the last of ", kMostVirtualDevices, " virtual devices, cpu:", kMostVirtualDevices - 1,
                 ".");
  return device;
}

std::string Device::str() const { return martello::str(kind, ":", index); }

}  // namespace martello
