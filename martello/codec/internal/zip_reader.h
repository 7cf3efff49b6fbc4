#pragma once
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

// Reads zip archives without trust: errors are InvalidArgument, with texts that name no file.
namespace martello::internal {

class ZipFile {
 public:
  explicit ZipFile(const std::string& path);  // NotFound when there is none
  ~ZipFile();
  ZipFile(const ZipFile&) = delete;
  ZipFile& operator=(const ZipFile&) = delete;

  int64_t size() const { return size_; }
  // Refuses what lies outside of the file.
  void read(int64_t at, void* to, int64_t bytes) const;
  std::string read(int64_t at, int64_t bytes) const;

 private:
  std::string path_;
  int file_;
  int64_t size_ = 0;
};

struct ZipEntry {
  std::string name;
  uint64_t method = 0, crc = 0, packed = 0, size = 0, offset = 0;
  int64_t data_begin = 0;  // of its packed bytes in the file
};
// In the order of the directory. Each has its own bytes of the file, and is called there as in the directory. All
// together, with what an array takes besides its data, unpack to no more than the size of the file and 64 MiB.
std::vector<ZipEntry> read_directory(const ZipFile& file);

// Gives the bytes of one entry in order, unpacked.
class ZipReader {
 public:
  ZipReader(const ZipFile& file, const ZipEntry& entry);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  void read(void* to, int64_t bytes);
  void finish() const;  // compares the checksum of what was read

 private:
  void unpack(char* to, int64_t bytes);
  void refill();

  const ZipFile& file_;
  const ZipEntry& entry_;
  int64_t at_ = 0, left_ = 0;
  uLong crc_ = 0;
  z_stream stream_ = {};
  Bytef buffer_[16384];
};

}  // namespace martello::internal
