#include <martello/base/error.h>

namespace martello::internal {

void throw_invalid_argument(std::string message) { throw InvalidArgument(std::move(message)); }

void throw_internal_error(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(
      str(message, " (internal error: ", condition, " does not hold at ", file, ":", line, "; please report it)"));
}

}  // namespace martello::internal
