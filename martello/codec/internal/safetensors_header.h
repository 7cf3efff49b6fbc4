#pragma once
#include <martello/codec/safetensors.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace martello::internal {

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;
  std::map<std::string, std::string> metadata;
};

std::string_view safetensors_name(DType dtype);

// Lays the entries out, one behind the other, and gives the JSON text. Wide elements come first, so that all are
// aligned without holes. Sets begin and end of each entry and sorts them by place.
std::string encode_header(SafetensorsHeader& header);

// Refuses, with a text that names no file, whatever is no header of exactly `data_bytes` bytes of data. Entries come
// sorted by name.
SafetensorsHeader decode_header(std::string_view text, int64_t data_bytes);

}  // namespace martello::internal
