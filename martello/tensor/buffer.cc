#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/base/meminfo.h>
#include <martello/tensor/buffer.h>

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <optional>

namespace martello {
namespace {

constexpr int64_t kHugePageBytes = 2 << 20;
constexpr int64_t kHugePagesFromBytes = 32 << 20;

int64_t available_bytes() {
  const std::optional<int64_t> memory = meminfo_bytes("MemAvailable");
  return memory ? *memory + meminfo_bytes("SwapFree").value_or(0) : std::numeric_limits<int64_t>::max();
}

// A kernel that overcommits grants more than there is and kills the process when it is touched.
bool is_available(int64_t bytes) {
  constexpr int64_t kAskFromBytes = int64_t{1} << 30;
  return bytes < kAskFromBytes || bytes <= available_bytes();
}

std::byte* allocate(int64_t bytes) {
  if (!is_available(bytes)) return nullptr;
  const int64_t alignment = bytes >= kHugePagesFromBytes ? kHugePageBytes : Buffer::kAlignment;
  // An empty buffer has an address too, so that it is unique or shared like any other.
  const int64_t rounded = align_up(bytes == 0 ? 1 : bytes, alignment);
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(rounded));
  // A hint: where the kernel has no huge pages the buffer is as good with small ones.
  if (memory != nullptr && bytes >= kHugePagesFromBytes) madvise(memory, static_cast<size_t>(rounded), MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

Buffer::Buffer(int64_t bytes, Device device) : size_(bytes), device_(device) {
  MARTELLO_CHECK(bytes >= 0, "[buffer] a buffer of ", bytes, " bytes: the size is negative.");
  MARTELLO_CHECK(device.kind == DeviceKind::cpu, "[buffer] ", bytes, " bytes on ", device,
                 ": this build has memory on cpu devices only. Place it with device(\"cpu:0\").");
  std::byte* memory = allocate(bytes);
  MARTELLO_CHECK(memory != nullptr, "[buffer] cannot allocate ", bytes, " bytes on ", device, "; ", available_bytes(),
                 " are available.");
  bytes_ = std::shared_ptr<std::byte>(memory, std::free);
}

}  // namespace martello
