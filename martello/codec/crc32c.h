#pragma once
#include <cstdint>
#include <string_view>

namespace martello {

// The checksum of TFRecord, LevelDB and iSCSI (Castagnoli's polynomial). `crc` is that of the bytes before.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);
// As TFRecord stores it: rotated and shifted, so that checksums of checksums stay useful.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace martello
