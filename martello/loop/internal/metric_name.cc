#include <martello/base/error.h>
#include <martello/loop/internal/metric_name.h>

#include <algorithm>

namespace martello::internal {
namespace {

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

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

bool is_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const size_t length = length_of(byte(i));
    if (length == 0 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k)
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    if (length > 2 && !is_good_second(byte(i), byte(i + 1))) return false;
    i += length;
  }
  return true;
}

void check_metric_name(std::string_view what, std::string_view name) {
  MARTELLO_CHECK(!name.empty(), "[monitors] a ", what, " has no name.");
  const bool is_clean = is_utf8(name) && std::none_of(name.begin(), name.end(), is_control);
  MARTELLO_CHECK(is_clean, "[monitors] the name ", quoted(name), " of a ", what,
                 " has control characters or is no UTF-8. Files of statistics are text.");
  for (std::string_view taken : {"epoch_num", "global_step", "volatile"})
    MARTELLO_CHECK(name != taken, "[monitors] '", name, "' names the ", what,
                   " and a key of every row of statistics. Choose another name.");
}

}  // namespace martello::internal
