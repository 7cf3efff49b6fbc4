#include <martello/base/internal/clock.h>
#include <martello/data/internal/stage_clock.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace martello {

struct StageTimes::Entries {
  std::mutex mutex;
  std::vector<Entry> list;
};

StageTimes::StageTimes() : entries_(make_owned<Entries>()) {}
StageTimes::~StageTimes() = default;

void StageTimes::add(std::string_view stage, double seconds, int threads) {
  const std::lock_guard lock(entries_->mutex);
  auto& list = entries_->list;
  const auto found = std::find_if(list.begin(), list.end(), [&](const Entry& e) { return e.stage == stage; });
  Entry& entry = found == list.end() ? list.emplace_back(Entry{.stage = std::string(stage)}) : *found;
  entry.seconds += seconds;
  entry.threads = std::max(entry.threads, threads);
}

std::vector<StageTimes::Entry> StageTimes::take() {
  const std::lock_guard lock(entries_->mutex);
  return std::exchange(entries_->list, {});
}

std::string slowest_stage(const std::vector<StageTimes::Entry>& entries) {
  const auto share = [](const StageTimes::Entry& e) { return e.seconds / e.threads; };
  const auto slowest = std::max_element(entries.begin(), entries.end(),
                                        [&](const auto& a, const auto& b) { return share(a) < share(b); });
  return slowest == entries.end() ? "" : slowest->stage;
}

namespace data::internal {
namespace {

// A datapoint that takes longer than kSlowSeconds is timed every time, others once in kPeriod.
constexpr int64_t kPeriod = 16;
constexpr double kSlowSeconds = 2e-4;

}  // namespace

StageClock::StageClock(std::shared_ptr<StageTimes> times) : times_(std::move(times)) { stages_.emplace_back(); }

void StageClock::begin() {
  current_stage_clock = this;
  open_.assign(1, 0);
  start_ = last_ = martello::internal::now_seconds();
}

void StageClock::end() {
  add_until_now();
  current_stage_clock = nullptr;
  for (Stage& s : stages_) {
    if (s.seconds > 0 && !s.name.empty()) times_->add(s.name, s.seconds * static_cast<double>(period_), s.threads);
    s.seconds = 0;
  }
  left_ = period_ = last_ - start_ > kSlowSeconds ? 1 : kPeriod;
}

void StageClock::enter(const std::string& stage, int threads) {
  add_until_now();
  open_.push_back(index_of(stage, threads));
}

void StageClock::leave() {
  add_until_now();
  open_.pop_back();
}

void StageClock::add_until_now() {
  const double now = martello::internal::now_seconds();
  stages_[open_.back()].seconds += now - last_;
  last_ = now;
}

size_t StageClock::index_of(const std::string& stage, int threads) {
  for (size_t i = 0; i < stages_.size(); ++i)
    if (stages_[i].name == stage) return i;
  stages_.push_back({stage, 0, threads});
  return stages_.size() - 1;
}

}  // namespace data::internal
}  // namespace martello
