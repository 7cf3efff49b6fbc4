// Any bytes as an .npz file: read, or refused as InvalidArgument.
#include "memory_file.h"

#include <martello/base/error.h>
#include <martello/codec/npz.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const fuzz::MemoryFile memory(bytes, size);
  try {
    static_cast<void>(martello::read_npz(memory.path()));
  } catch (const martello::InvalidArgument&) {
  }
  return 0;
}
