#include <martello/base/error.h>
#include <martello/base/logger_dir.h>
#include <martello/callbacks/internal/saver_dir.h>

#include <unistd.h>

#include <filesystem>

namespace martello::internal {

std::string saver_dir(const std::string& given, std::string_view who) {
  auto found = given.empty() ? logger::find_logger_dir() : given;
  if (!found)
    throw FailedPrecondition(
        str("[", who, "] has no directory to save to. Call logger::auto_set_dir() before training, or set .dir."));
  while (found->size() > 1 && found->back() == '/') found->pop_back();
  std::error_code failure;
  std::filesystem::create_directories(*found, failure);
  MARTELLO_CHECK(!failure, "[", who, "] cannot make the directory '", *found, "': ", failure.message(), ".");
  MARTELLO_CHECK(access(found->c_str(), R_OK | W_OK | X_OK) == 0, "[", who, "] the directory '", *found,
                 "' cannot be read and written.");
  return *found;
}

}  // namespace martello::internal
