#include <martello/base/checked.h>
#include <martello/base/error.h>
#include <martello/tensor/buffer.h>

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <cstdlib>
#include <limits>

namespace martello {
namespace {

constexpr int64_t kHugePageBytes = 2 << 20;
constexpr int64_t kHugePagesFromBytes = 32 << 20;

// Memory and swap. A kernel that overcommits grants more than that and kills the process when it is touched.
int64_t machine_bytes() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return std::numeric_limits<int64_t>::max();
  return checked_mul(static_cast<int64_t>(info.totalram + info.totalswap), static_cast<int64_t>(info.mem_unit));
}

std::byte* allocate(int64_t bytes) {
  static const int64_t most_bytes = machine_bytes();
  if (bytes > most_bytes) return nullptr;
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
  MARTELLO_CHECK(memory != nullptr, "[buffer] cannot allocate ", bytes, " bytes on ", device, ".");
  bytes_ = std::shared_ptr<std::byte>(memory, std::free);
}

}  // namespace martello
