#pragma once
#include <string>
#include <string_view>

namespace martello::internal {

// The logger's directory; FailedPrecondition, which names `who`, when there is none.
std::string dir_for(std::string_view who);
// Writes a whole file, and the folders above it. Throws FileError.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace martello::internal
