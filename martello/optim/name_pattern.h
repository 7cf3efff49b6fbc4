#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace martello {

// A regular expression (ECMAScript) that a whole name has to match: "fc/.*" but not "fc" takes "fc/W".
class NamePattern {
 public:
  // `who` is named when the expression cannot be read.
  NamePattern(const std::string& regex, std::string_view who);
  bool matches(std::string_view name) const;
  const std::string& text() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace martello
