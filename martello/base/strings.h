#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace martello {
namespace internal {

void append_number(std::string& out, int64_t v);
void append_number(std::string& out, uint64_t v);
void append_number(std::string& out, double v);  // shortest text that reads back to the same value

template <class T>
void append(std::string& out, const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    out += v ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    out += v;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    out += std::string_view(v);
  } else if constexpr (std::is_enum_v<T>) {
    out += to_string(v);  // found by argument-dependent lookup
  } else if constexpr (std::floating_point<T>) {
    append_number(out, static_cast<double>(v));
  } else if constexpr (std::signed_integral<T>) {
    append_number(out, static_cast<int64_t>(v));
  } else if constexpr (std::unsigned_integral<T>) {
    append_number(out, static_cast<uint64_t>(v));
  } else {
    out += v.str();
  }
}

}  // namespace internal

// Text of all arguments in a row: `str("axis ", 5, " of ", shape)`. Takes strings, numbers, enums with a
// to_string() and classes with a str().
template <class... T>
std::string str(const T&... parts) {
  std::string out;
  (internal::append(out, parts), ...);
  return out;
}

// "a, b, c"
std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");
std::vector<std::string> split(std::string_view text, char separator);

// Text in double quotes with \" \\ \n \t and \xNN escapes, and its inverse.
std::string quoted(std::string_view text);
std::string unquoted(std::string_view text);  // InvalidArgument when quoted() would not have written it

// The candidates that a person who typed `name` may have meant, best first: small edit distance, or the same last
// part of a path (`conv1/W` for `tower0/conv1/W`).
std::vector<std::string> near_misses(std::string_view name, const std::vector<std::string>& candidates,
                                     size_t limit = 3);
// " Did you mean 'a', 'b'?" or "".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace martello
