#pragma once
#include <string>

namespace martello {

// The user's line. std::source_location is missing in clang 14; these builtins exist in GCC and Clang.
struct SourceLine {
  const char* file = "";
  unsigned line = 0;
  const char* function = "";

  static constexpr SourceLine current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                                      const char* function = __builtin_FUNCTION()) noexcept {
    return {file, line, function};
  }
  bool known() const { return line != 0; }
  std::string str() const;  // "model.cc:12", or "" when unknown
};

// Nodes made while a LineScope lives get its line. The outermost wins, so a layer's inner nodes show the caller's line;
// `pin` wins over an outer scope (gradient nodes show the line of their forward node).
class LineScope {
 public:
  enum class Kind { outermost, pin };
  [[nodiscard]] explicit LineScope(SourceLine line, Kind kind = Kind::outermost);
  ~LineScope();
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

  // The line that a node made now gets, when its own call site is `own`.
  static SourceLine effective(SourceLine own);

 private:
  SourceLine previous_;
};

}  // namespace martello
