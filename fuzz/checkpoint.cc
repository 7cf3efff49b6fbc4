// Any bytes as a checkpoint: read, or refused as InvalidArgument. Once as they are, and once with the checksums that
// they should have: else nothing behind these would be reached.
#include "memory_file.h"

#include <martello/base/error.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/internal/safetensors_checksums.h>
#include <martello/codec/internal/safetensors_header.h>
#include <martello/train/checkpoint_contents.h>

#include <cstring>
#include <string_view>

namespace {

using namespace martello;

void read(std::string_view bytes) {
  const fuzz::MemoryFile memory(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  try {
    static_cast<void>(read_checkpoint_info(memory.path()));
    static_cast<void>(read_checkpoint(memory.path()));
    verify_checkpoint(memory.path());
  } catch (const InvalidArgument&) {
  }
}

// The header, with the checksums of these data.
std::string sealed(std::string header, std::string_view data) {
  constexpr std::string_view kSums = "\"crc32c\":\"";
  std::string sums;
  for (const auto& e : internal::decode_header(header, static_cast<int64_t>(data.size())).entries)
    sums += internal::hex(crc32c(data.substr(static_cast<size_t>(e.begin), static_cast<size_t>(e.end - e.begin))));
  const size_t at = header.find(kSums);
  if (at != std::string::npos && header.size() - at >= kSums.size() + sums.size())
    header.replace(at + kSums.size(), sums.size(), sums);
  internal::seal_header(header);
  return header;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(bytes), size);
  read(file);
  uint64_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, bytes, sizeof length);
  if (length > size - sizeof length) return 0;
  const std::string_view data = file.substr(sizeof length + length);
  try {
    const std::string header = sealed(std::string(file.substr(sizeof length, length)), data);
    read(std::string(file.substr(0, sizeof length)) + header + std::string(data));
  } catch (const InvalidArgument&) {
  }
  return 0;
}
