// Any bytes as a safetensors file: read, or refused as InvalidArgument.
#include "memory_file.h"

#include <martello/base/error.h>
#include <martello/codec/safetensors.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const fuzz::MemoryFile memory(bytes, size);
  try {
    const martello::SafetensorsFile file(memory.path());
    for (const auto& entry : file.entries()) static_cast<void>(file.read(entry.name));
    if (file.has_checksums()) file.verify();
  } catch (const martello::InvalidArgument&) {
  }
  return 0;
}
