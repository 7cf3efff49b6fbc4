#pragma once
#include <martello/tensor/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace martello {

// Bytes on a device, shared by its copies. Aligned to 64 bytes, from 32 MiB on to huge pages of 2 MiB.
class Buffer {
 public:
  static constexpr int64_t kAlignment = 64;

  Buffer() = default;
  explicit Buffer(int64_t bytes, Device device = {});

  std::byte* data() const { return bytes_.get(); }
  int64_t size() const { return size_; }
  Device device() const { return device_; }
  bool unique() const { return bytes_.use_count() == 1; }
  explicit operator bool() const { return bytes_ != nullptr; }

 private:
  std::shared_ptr<std::byte> bytes_;
  int64_t size_ = 0;
  Device device_;
};

}  // namespace martello
