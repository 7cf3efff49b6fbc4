#include <martello/base/append_file.h>
#include <martello/base/error.h>
#include <martello/base/logger_dir.h>
#include <martello/callbacks/internal/files.h>

#include <filesystem>

namespace martello::internal {

std::string dir_for(std::string_view who) {
  if (const auto dir = logger::find_logger_dir()) return *dir;
  throw FailedPrecondition(
      str("[", who,
          "] writes into the logger's directory, but there is none. Call logger::auto_set_dir() before training."));
}

void write_file(const std::string& path, std::string_view bytes) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failure);
  AppendFile file(path);
  file.cut(0);
  file.append(bytes);
  file.close();
}

}  // namespace martello::internal
