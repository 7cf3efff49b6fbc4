#include <martello/base/strings.h>
#include <martello/base/utf8.h>
#include <martello/runtime/session.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace martello {
namespace {

// In double quotes, as JSON has it. Names of nodes may be any bytes.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : as_utf8(text)) {
    char escaped[8];
    if (static_cast<unsigned char>(c) < 0x20) out.append(escaped, std::snprintf(escaped, sizeof escaped, "\\u%04x", c));
    else out += c == '"' || c == '\\' ? str('\\', c) : std::string(1, c);
  }
  return out += '"';
}

}  // namespace

std::string RunTrace::chrome_json() const {
  std::string json = "{\"traceEvents\":[";
  double first = 0;
  for (const TraceEvent& e : events)
    if (first == 0 || e.start_us < first) first = e.start_us;
  bool is_first = true;
  for (const TraceEvent& e : events) {
    json += str(is_first ? "\n" : ",\n", "{\"name\":", json_text(e.node), ",\"cat\":", json_text(e.op),
                ",\"ph\":\"X\",\"pid\":0,\"tid\":", json_text(e.device), ",\"ts\":", e.start_us - first,
                ",\"dur\":", e.duration_us, ",\"args\":{\"library_us\":", e.library_us, "}}");
    is_first = false;
  }
  return json + "\n]}\n";
}

std::string RunTrace::table() const {
  struct Row {
    int calls = 0;
    double total = 0;
  };
  std::map<std::string, Row> rows;
  double all = 0;
  for (const TraceEvent& e : events) {
    Row& r = rows[e.op];
    ++r.calls;
    r.total += e.duration_us;
    all += e.duration_us;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.second.total > b.second.total; });
  std::string text = "op                                calls     total us      mean us    share\n";
  for (const auto& [op, r] : sorted) {
    char line[160];
    std::snprintf(line, sizeof line, "%-32s %6d %12.1f %12.2f %7.1f%%\n", op.c_str(), r.calls, r.total,
                  r.total / r.calls, all > 0 ? 100 * r.total / all : 0.0);
    text += line;
  }
  return text;
}

}  // namespace martello
