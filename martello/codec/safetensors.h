#pragma once
#include <martello/tensor/host_tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Tensors by name in one file, in the format that other frameworks read and write as well: the length of a JSON header,
// the header, the bytes of all tensors.
namespace martello {

struct NamedTensor {
  std::string name;
  HostTensor value;
};

struct SafetensorsOptions {
  bool checksums = false;            // of the header and of every tensor, in the metadata: each changed bit is found
  std::function<void()> check = {};  // called every few megabytes; what it throws ends the writing
};

// Writes aside, syncs and renames: the file is there whole or not at all. Names are unique UTF-8; `__metadata__` is
// taken.
void write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {}, const SafetensorsOptions& options = {});

// A file that is open for reading. Nothing in it is believed: a header that is too long, cut, or no such JSON, names
// that come twice, tensors that overlap, leave holes, lie outside of the file or have another size than their shape
// says, are refused with the file's name and the reason (InvalidArgument), and so are a header or a tensor that differ
// from their checksums, where the file has some. NotFound when there is no file.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    DType dtype = f32;
    Shape shape = {};
    int64_t begin = 0, end = 0;  // bytes, counted from the end of the header
  };

  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<Entry>& entries() const { return entries_; }                    // by name, sorted
  const Entry* find(std::string_view name) const;                                   // null when there is none
  HostTensor read(std::string_view name) const;                                     // NotFound, with near misses
  const std::map<std::string, std::string>& metadata() const { return metadata_; }  // without checksums
  bool has_checksums() const { return has_checksums_; }
  // Reads everything once and compares; FailedPrecondition when the file has no checksums.
  void verify() const;

  static constexpr int64_t kMostHeaderBytes = 100'000'000;

 private:
  void read_header();
  void check_tensor(const Entry& entry, uint32_t crc) const;
  uint32_t checksum_at(const Entry& entry) const;
  void read_at(int64_t offset, std::byte* to, int64_t bytes) const;
  [[noreturn]] void refuse(std::string_view why) const;

  int file_ = -1;
  std::string path_;
  int64_t data_begin_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> metadata_;
  std::vector<uint32_t> checksums_;  // by entry; empty: the file has none
  bool has_checksums_ = false;
};

}  // namespace martello
