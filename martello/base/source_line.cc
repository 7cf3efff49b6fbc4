#include <martello/base/source_line.h>
#include <martello/base/strings.h>

namespace martello {
namespace {

thread_local SourceLine scope_line;

}  // namespace

std::string SourceLine::str() const {
  if (!known()) return "";
  const std::string_view path = file;
  return martello::str(path.substr(path.rfind('/') + 1), ":", line);
}

LineScope::LineScope(SourceLine line, Kind kind) : previous_(scope_line) {
  // An unknown line, a pinned one too, has nothing better to say than the scope around it.
  if (line.known() && (kind == Kind::pin || !scope_line.known())) scope_line = line;
}

LineScope::~LineScope() { scope_line = previous_; }

SourceLine LineScope::effective(SourceLine own) { return scope_line.known() ? scope_line : own; }

}  // namespace martello
