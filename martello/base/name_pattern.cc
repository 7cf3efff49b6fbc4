#include <martello/base/error.h>
#include <martello/base/name_pattern.h>

#include <regex>

namespace martello {

struct NamePattern::Impl {
  std::string text;
  std::regex regex;
};

NamePattern::NamePattern(const std::string& regex, std::string_view who) try
    : impl_(std::make_shared<const Impl>(Impl{regex, std::regex(regex)})) {
} catch (const std::regex_error& e) {
  throw InvalidArgument(str("[", who, "] '", regex, "' is no regular expression: ", e.what(), "."));
}

bool NamePattern::matches(std::string_view name) const {
  return std::regex_match(name.begin(), name.end(), impl_->regex);
}

bool NamePattern::is_found_in(std::string_view name) const {
  return std::regex_search(name.begin(), name.end(), impl_->regex);
}

const std::string& NamePattern::text() const { return impl_->text; }

}  // namespace martello
