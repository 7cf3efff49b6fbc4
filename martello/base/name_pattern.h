#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace martello {

// A regular expression (ECMAScript) for names.
class NamePattern {
 public:
  // `who` is named when the expression cannot be read.
  NamePattern(const std::string& regex, std::string_view who);
  bool matches(std::string_view name) const;      // the whole name: "fc/.*" but not "fc" takes "fc/W"
  bool is_found_in(std::string_view name) const;  // a part of it: "fc" does
  const std::string& text() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace martello
