#include <martello/base/error.h>
#include <martello/base/strings.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace martello {
namespace internal {
namespace {

template <class T>
void append_chars(std::string& out, T v) {
  char text[32];  // the longest double, -2.2250738585072014e-308, has 24
  out.append(text, std::to_chars(text, text + sizeof text, v).ptr);
}

}  // namespace

void append_number(std::string& out, int64_t v) { append_chars(out, v); }
void append_number(std::string& out, uint64_t v) { append_chars(out, v); }
void append_number(std::string& out, double v) { append_chars(out, v); }

}  // namespace internal

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

void append_escaped(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') {
    out += {'\\', c};
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (byte < 0x20 || byte == 0x7f) {
    out += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  } else {
    out += c;
  }
}

// Takes one escape, without its backslash, from the front of `rest`.
std::optional<char> take_escape(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == '"' || kind == '\\') return kind;
  if (kind == 'n') return '\n';
  if (kind == 't') return '\t';
  if (kind != 'x' || rest.size() < 2) return std::nullopt;
  unsigned char byte = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + 2, byte, 16);
  if (status != std::errc() || end != rest.data() + 2) return std::nullopt;
  rest.remove_prefix(2);
  return static_cast<char>(byte);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> table((a.size() + 1) * width);
  auto cost = [&](size_t i, size_t j) -> size_t& { return table[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) cost(i, 0) = i;
  for (size_t j = 0; j <= b.size(); ++j) cost(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = cost(i - 1, j - 1) + (a[i - 1] != b[j - 1]);
      cost(i, j) = std::min({cost(i - 1, j) + 1, cost(i, j - 1) + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost(i, j) = std::min(cost(i, j), cost(i - 2, j - 2) + 1);
    }
  }
  return cost(a.size(), b.size());
}

bool is_path_end(std::string_view path, std::string_view end) {
  return !end.empty() && path.size() > end.size() && path.ends_with(end) && path[path.size() - end.size() - 1] == '/';
}

// 0 is best; none when nobody would take one for the other.
std::optional<size_t> mistake_cost(std::string_view typed, std::string_view candidate) {
  if (is_path_end(candidate, typed) || is_path_end(typed, candidate)) return 0;
  // One edit in three letters is a typo, more is another word. Long paths differ in one part, not in a third of it.
  const size_t most = std::min<size_t>(std::max(typed.size(), candidate.size()) / 3, 3);
  const size_t longer = std::max(typed.size(), candidate.size()), shorter = std::min(typed.size(), candidate.size());
  if (longer - shorter > most) return std::nullopt;
  const size_t edits = edit_distance(lower(typed), lower(candidate));
  return edits <= most ? std::optional(edits) : std::nullopt;
}

}  // namespace

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += part;
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.emplace_back(text.substr(0, end));
  }
  parts.emplace_back(text);
  return parts;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) append_escaped(out, c);
  return out += '"';
}

std::string unquoted(std::string_view text) {
  MARTELLO_CHECK(text.size() >= 2 && text.front() == '"' && text.back() == '"', "[unquoted] ", text,
                 " does not stand in double quotes.");
  std::string out;
  for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();) {
    const char c = rest.front();
    rest.remove_prefix(1);
    MARTELLO_CHECK(c != '"', "[unquoted] ", text, " has a bare quote inside. Write \\\".");
    const std::optional<char> plain = c == '\\' ? take_escape(rest) : c;
    MARTELLO_CHECK(plain, "[unquoted] ", text, " has an unknown escape. Known are \\\" \\\\ \\n \\t and \\xNN.");
    out += *plain;
  }
  return out;
}

std::vector<std::string> near_misses(std::string_view name, const std::vector<std::string>& candidates, size_t limit) {
  std::vector<std::pair<size_t, const std::string*>> found;
  for (const std::string& candidate : candidates) {
    if (const auto cost = mistake_cost(name, candidate)) found.emplace_back(*cost, &candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (size_t i = 0; i < std::min(limit, found.size()); ++i) best.push_back(*found[i].second);
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> meant = near_misses(name, candidates);
  return meant.empty() ? "" : str(" Did you mean '", join(meant, "', '"), "'?");
}

}  // namespace martello
