#include <martello/base/error.h>
#include <martello/base/utf8.h>
#include <martello/train/internal/checkpoint_metadata.h>

#include <charconv>
#include <cmath>

namespace martello {
namespace {

constexpr std::string_view kFormat = "1";

// "min-error=0.07 min 1", the best of them with a star behind.
std::string best_text(const std::vector<BestTag>& tags) {
  std::vector<std::string> lines;
  for (const BestTag& t : tags)
    lines.push_back(str(t.name, "=", t.value, t.is_max ? " max " : " min ", t.keep, t.is_best ? " best" : " good"));
  return join(lines, "\n");
}

template <class T>
T number(std::string_view key, std::string_view text) {
  T value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  MARTELLO_CHECK(status == std::errc() && end == text.data() + text.size(), "its ", key, " is ", quoted(text),
                 ", which is no such number.");
  return value;
}

BestTag parse_best(const std::string& line) {
  const size_t equals = line.rfind('=');
  const auto parts = split(line.substr(equals == std::string::npos ? line.size() : equals + 1), ' ');
  MARTELLO_CHECK(parts.size() == 4 && (parts[1] == "min" || parts[1] == "max"), "its tag ", quoted(line),
                 " is none of a best checkpoint.");
  const auto value = number<double>("best value", parts[0]);
  MARTELLO_CHECK(!std::isnan(value), "its tag ", quoted(line), " has a value that is no number.");
  return {.name = line.substr(0, equals),
          .value = value,
          .is_max = parts[1] == "max",
          .keep = number<int64_t>("number of best ones", parts[2]),
          .is_best = parts[3] == "best"};
}

std::vector<BestTag> parse_best_tags(const std::string& text) {
  std::vector<BestTag> tags;
  if (text.empty()) return tags;
  for (const std::string& line : split(text, '\n')) tags.push_back(parse_best(line));
  return tags;
}

Phase parse_phase(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(Phase::after_train); ++i)
    if (to_string(static_cast<Phase>(i)) == text) return static_cast<Phase>(i);
  throw InvalidArgument(str("its phase is ", quoted(text), ", which is none."));
}

// By key; refuses one that is missing.
struct Fields {
  const std::map<std::string, std::string>& all;
  const std::string& operator[](const char* key) const {
    const auto found = all.find(key);
    MARTELLO_CHECK(found != all.end(), "has no ", key, " in its metadata.");
    return found->second;
  }
  // Epochs may be counted from below 0.
  int64_t number_in_run(const char* key) const {
    constexpr int64_t kMost = int64_t{1} << 53;
    const auto value = number<int64_t>(key, (*this)[key]);
    MARTELLO_CHECK(-kMost <= value && value <= kMost, "its ", key, " is ", value, ", which no run reaches.");
    return value;
  }
  int64_t count(const char* key) const {
    const int64_t value = number_in_run(key);
    MARTELLO_CHECK(value >= 0, "its ", key, " is ", value, ", below 0.");
    return value;
  }
};

// Checkpoints are sorted by it, and a run's next one is later.
double parse_time(const std::string& text) {
  constexpr double kMost = 1e11;  // the year 5138
  const auto time = number<double>("saved_at", text);
  MARTELLO_CHECK(time >= 0 && time < kMost, "its saved_at is ", quoted(text), ", which is no time.");
  return time;
}

CheckpointInfo decode(const std::string& path, const Fields& f) {
  MARTELLO_CHECK(f[kCheckpointFormatKey] == kFormat, "is of format ", quoted(f[kCheckpointFormatKey]),
                 "; this version reads ", kFormat, ".");
  CheckpointInfo info{.path = path};
  info.global_step = f.count("global_step");
  info.position.epoch_num = f.number_in_run("epoch_num");
  info.position.steps_done = f.count("steps_done");
  info.position.phase = parse_phase(f["phase"]);
  info.next_callback = f["next_callback"];
  info.end = f["end"];
  info.run = f["run"];
  info.saved_at = parse_time(f["saved_at"]);
  info.best = parse_best_tags(f["best"]);
  if (f.all.contains("replaced_end")) info.replaced_end = f.number_in_run("replaced_end");
  return info;
}

// What was thrown may say anything, at any length.
std::string end_text(std::string_view end) {
  constexpr size_t kMost = 1 << 16;
  return as_utf8(end.substr(0, kMost));
}

}  // namespace

std::map<std::string, std::string> encode_metadata(const CheckpointInfo& info) {
  std::map<std::string, std::string> metadata = {{kCheckpointFormatKey, std::string(kFormat)},
                                                 {"global_step", str(info.global_step)},
                                                 {"epoch_num", str(info.position.epoch_num)},
                                                 {"steps_done", str(info.position.steps_done)},
                                                 {"phase", str(info.position.phase)},
                                                 {"next_callback", info.next_callback},
                                                 {"end", end_text(info.end)},
                                                 {"run", info.run},
                                                 {"saved_at", str(info.saved_at)},
                                                 {"best", best_text(info.best)}};
  if (info.replaced_end) metadata["replaced_end"] = str(*info.replaced_end);
  return metadata;
}

CheckpointInfo decode_metadata(const std::string& path, const std::map<std::string, std::string>& metadata) try {
  return decode(path, Fields{metadata});
} catch (const InvalidArgument& e) {
  throw InvalidArgument(str("[checkpoint '", path, "'] ", e.what()));
}

}  // namespace martello
