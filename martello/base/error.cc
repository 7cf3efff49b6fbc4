#include <martello/base/error.h>

namespace martello {

void Error::add_line(const SourceLine& line) {
  if (!line.known()) return;
  const std::string shown = str("at ", line.str());
  if (str(message_, "\n").find(shown + "\n") == std::string::npos) add_context(shown);
}

namespace internal {

void throw_invalid_argument(std::string message) { throw InvalidArgument(std::move(message)); }

void throw_internal_error(const char* file, int line, const char* condition, const std::string& message) {
  throw InternalError(
      str(message, " (internal error: ", condition, " does not hold at ", file, ":", line, "; please report it)"));
}

}  // namespace internal
}  // namespace martello
