#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Note [Checksums of a file]: the metadata hold `crc32c`, eight hexadecimal digits for every tensor in the order of
// their names, and `crc32c_header`, that of the header's text with zeros in its own place. So each bit of a file is
// covered: the length of the header decides where its text ends, and every byte behind it belongs to one tensor.
namespace martello::internal {

using Metadata = std::map<std::string, std::string>;

std::string hex(uint32_t value);
void add_checksums(Metadata& metadata, const std::map<std::string_view, std::string_view>& tensors);
// Puts the header's own checksum into its text, once that is complete.
void seal_header(std::string& text);

// Takes them out of the metadata; none when there are none. Refuses a text that differs from its checksum.
std::optional<std::vector<uint32_t>> take_checksums(Metadata& metadata, std::string text, size_t num_tensors);

}  // namespace martello::internal
