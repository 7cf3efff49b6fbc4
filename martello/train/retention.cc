#include <martello/train/internal/retention.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace martello {
namespace {

using Infos = std::vector<CheckpointInfo>;  // the oldest first
using Paths = std::set<std::string>;

void keep_newest(const Infos& all, int64_t number, Paths& kept) {
  const size_t count = std::min(all.size(), static_cast<size_t>(number));
  for (size_t i = all.size() - count; i < all.size(); ++i) kept.insert(all[i].path);
}

bool is_kept_for_its_epoch(const CheckpointInfo& c, int64_t every) {
  const auto epoch = epoch_ended_by(c);
  return every > 0 && epoch && *epoch % every == 0;
}

// The first one of each stretch of time: it was kept in all earlier decisions as well.
void keep_minutes(const Infos& all, double minutes, Paths& kept) {
  double last = -std::numeric_limits<double>::infinity();
  for (const CheckpointInfo& c : all) {
    if (minutes == 0 || c.saved_at - last < 60 * minutes) continue;
    kept.insert(c.path);
    last = c.saved_at;
  }
}

// By tag: values with the path of their checkpoint, so that the better one comes first.
void keep_best(const Infos& all, Paths& kept) {
  struct Ranking {
    std::vector<std::pair<double, std::string>> values;
    int64_t keep = 0;
  };
  std::map<std::string, Ranking> by_tag;
  for (const CheckpointInfo& c : all)
    for (const BestTag& tag : c.best) {
      Ranking& r = by_tag[tag.name];
      r.values.emplace_back(tag.is_max ? -tag.value : tag.value, c.path);
      r.keep = tag.keep;  // what the newest says
    }
  for (auto& [tag, r] : by_tag) {
    std::stable_sort(r.values.begin(), r.values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < r.values.size() && static_cast<int64_t>(i) < r.keep; ++i) kept.insert(r.values[i].second);
  }
}

}  // namespace

std::optional<int64_t> epoch_ended_by(const CheckpointInfo& c) {
  if (c.position.phase == Phase::trigger_epoch && c.next_callback.empty()) return c.position.epoch_num;
  return c.replaced_end;
}

bool stays_for_good(const CheckpointInfo& c, const Retention& keep) {
  return keep.newest == 0 || is_kept_for_its_epoch(c, keep.every_epochs);
}

std::vector<std::string> superfluous(std::vector<CheckpointInfo> all, const Retention& keep) {
  if (keep.newest == 0) return {};
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.saved_at < b.saved_at; });
  Paths kept;
  keep_newest(all, keep.newest, kept);
  for (const CheckpointInfo& c : all)
    if (is_kept_for_its_epoch(c, keep.every_epochs)) kept.insert(c.path);
  keep_minutes(all, keep.every_minutes, kept);
  keep_best(all, kept);
  std::vector<std::string> paths;
  for (const CheckpointInfo& c : all)
    if (!kept.contains(c.path)) paths.push_back(c.path);
  return paths;
}

}  // namespace martello
