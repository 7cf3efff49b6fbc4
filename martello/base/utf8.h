#pragma once
#include <string>
#include <string_view>

namespace martello {

bool is_utf8(std::string_view text);
// UTF-8 without control characters: a name that any line of text can hold.
bool is_clean_text(std::string_view text);
// The same text with U+FFFD in place of every byte that belongs to no character: for files that hold UTF-8 only.
std::string as_utf8(std::string_view text);

}  // namespace martello
