#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// stats.jsonl, the statistics of a run: a JSON object per line with `epoch_num`, `global_step` and the scalars of that
// moment. Scalars that another machine would give otherwise lie in an object `volatile`; values that are no numbers are
// "nan", "inf" and "-inf".
namespace martello {

inline constexpr std::string_view kStatsFile = "stats.jsonl";

struct StatsRow {
  std::optional<int64_t> epoch_num;
  int64_t global_step = 0;
  std::vector<std::pair<std::string, double>> scalars;
  std::vector<std::pair<std::string, double>> volatile_scalars;
};
std::string stats_line(const StatsRow& row);         // without a newline
StatsRow parse_stats_line(const std::string& line);  // InvalidArgument for what is none

// All rows. Throws NotFound when there is no file and InvalidArgument, with the line's number, for one that is broken;
// a last line that was cut is left out.
std::vector<StatsRow> load_stats(const std::string& path);
// The epoch of the last row of `dir`/stats.jsonl, if there is one.
std::optional<int64_t> find_existing_epoch(const std::string& dir);

}  // namespace martello
