#include <martello/base/utf8.h>

#include <algorithm>

namespace martello {
namespace {

unsigned char byte_of(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// Bytes of the character that begins with `lead`; 0 when none does.
size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

// Overlong forms, surrogates and numbers beyond U+10FFFF differ from the others in their second byte.
bool is_good_second(unsigned char lead, unsigned char second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  return lead != 0xf4 || second < 0x90;
}

// Bytes of the character at the front; 0 when there is none.
size_t front_length(std::string_view text) {
  const size_t length = length_of(byte_of(text, 0));
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte_of(text, i) & 0xc0) != 0x80) return 0;
  return length < 3 || is_good_second(byte_of(text, 0), byte_of(text, 1)) ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = front_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_clean_text(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return is_utf8(text) && std::none_of(text.begin(), text.end(), is_control);
}

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = front_length(text);
    if (length == 0) out += "\xef\xbf\xbd";
    else out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace martello
