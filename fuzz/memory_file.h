#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace fuzz {

// Bytes as a file that has a path, without a disk.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* bytes, size_t size) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    while (size > 0) {
      const ssize_t written = write(file_, bytes, size);
      if (written <= 0) break;
      bytes += written;
      size -= static_cast<size_t>(written);
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace fuzz
