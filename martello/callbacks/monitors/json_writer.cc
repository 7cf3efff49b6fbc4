#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/callbacks/monitors/writers.h>

namespace martello {

JSONWriter::JSONWriter(std::string dir) : RowWriter(std::move(dir), kStatsFile) {}

std::optional<int64_t> JSONWriter::epoch_of(const std::string& row) const { return parse_stats_line(row).epoch_num; }

std::string JSONWriter::rows_of(const internal::PendingScalars& scalars) const {
  StatsRow row = {epoch_num(), global_step(), {}, {}};
  for (size_t i = 0; i < scalars.size(); ++i) {
    const auto& s = scalars[i];
    (s.kind == ScalarClass::run ? row.scalars : row.volatile_scalars).emplace_back(s.name, s.value);
  }
  return stats_line(row) + "\n";
}

}  // namespace martello
