#pragma once
#include <martello/train/checkpoint.h>

#include <map>
#include <string>

namespace martello {

inline constexpr const char* kCheckpointFormatKey = "martello_checkpoint";

std::map<std::string, std::string> encode_metadata(const CheckpointInfo& info);
// Refuses what encode_metadata() does not write.
CheckpointInfo decode_metadata(const std::string& path, const std::map<std::string, std::string>& metadata);

}  // namespace martello
