#include <martello/base/error.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/internal/safetensors_checksums.h>

#include <charconv>
#include <cstdio>

namespace martello::internal {

std::string hex(uint32_t value) {
  char text[9];
  snprintf(text, sizeof text, "%08x", value);
  return text;
}

namespace {

constexpr const char* kTensors = "crc32c";
constexpr const char* kHeader = "crc32c_header";
constexpr size_t kDigits = 8;
// As the encoder writes it; other keys and texts have their quotes escaped, so it cannot stand in one of them.
constexpr std::string_view kHeaderField = "\"crc32c_header\":\"";

uint32_t parse_hex(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  // Capital letters would be a second way to write the same.
  MARTELLO_CHECK(status == std::errc() && end == digits.data() + digits.size() && hex(value) == digits,
                 "has the checksum ", martello::quoted(digits), ", which is none.");
  return value;
}

size_t place_of_header_checksum(std::string_view text) {
  const size_t field = text.find(kHeaderField);
  MARTELLO_CHECK(field != std::string_view::npos && field + kHeaderField.size() + kDigits <= text.size(),
                 "its header has no checksum where one is expected. It is damaged.");
  return field + kHeaderField.size();
}

uint32_t checksum_of_header(std::string& text) {
  text.replace(place_of_header_checksum(text), kDigits, kDigits, '0');
  const auto length = static_cast<uint64_t>(text.size());
  return crc32c(text, crc32c({reinterpret_cast<const char*>(&length), sizeof length}));
}

}  // namespace

void add_checksums(Metadata& metadata, const std::map<std::string_view, std::string_view>& tensors) {
  std::string sums;
  for (const auto& [name, bytes] : tensors) sums += hex(crc32c(bytes));
  for (const char* key : {kTensors, kHeader})
    MARTELLO_CHECK(!metadata.contains(key), "[safetensors] the name '", key, "' in the metadata is taken.");
  metadata[kTensors] = sums;
  metadata[kHeader] = std::string(kDigits, '0');
}

void seal_header(std::string& text) {
  const std::string sum = hex(checksum_of_header(text));
  text.replace(place_of_header_checksum(text), kDigits, sum);
}

std::optional<std::vector<uint32_t>> take_checksums(Metadata& metadata, std::string text, size_t num_tensors) {
  const auto tensors = metadata.find(kTensors), header = metadata.find(kHeader);
  if (tensors == metadata.end() && header == metadata.end()) return std::nullopt;
  MARTELLO_CHECK(tensors != metadata.end() && header != metadata.end(),
                 "has only one of its two kinds of checksums. It is damaged.");
  const uint32_t written = parse_hex(header->second), found = checksum_of_header(text);
  MARTELLO_CHECK(found == written, "its header is damaged: its checksum is ", hex(found), ", it was written with ",
                 hex(written), ".");
  MARTELLO_CHECK(tensors->second.size() == num_tensors * kDigits, "has ", tensors->second.size() / kDigits,
                 " checksums for ", num_tensors, " tensors.");
  std::vector<uint32_t> sums;
  for (size_t i = 0; i < num_tensors; ++i)
    sums.push_back(parse_hex(std::string_view(tensors->second).substr(i * kDigits, kDigits)));
  metadata.erase(tensors);
  metadata.erase(header);
  return sums;
}

}  // namespace martello::internal
