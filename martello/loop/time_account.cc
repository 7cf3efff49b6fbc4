#include <martello/loop/time_account.h>

#include <martello/base/internal/clock.h>
#include <martello/base/strings.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace martello {
namespace {

constexpr int64_t kBlockSteps = 64;
// A measured step reads the clock eight times, about 0.2 us; in longer steps that is below half a percent.
constexpr double kLongStepSeconds = 5e-5;

size_t index_of(TimePart part) { return static_cast<size_t>(part); }
double sum(const std::array<double, kNumTimeParts>& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace

std::string_view to_string(TimePart part) {
  static constexpr std::array<std::string_view, kNumTimeParts> kNames = {"input", "compute", "callbacks", "monitors"};
  return kNames[index_of(part)];
}

void TimeAccount::begin_epoch() {
  *this = {};
  is_running_ = true;
  epoch_start_ = internal::now_seconds();
  open_block(epoch_start_, true);
}

void TimeAccount::begin_step() {
  if (left_ == 0) {
    const double now = internal::now_seconds();
    close_block(now);
    const double per_step = (now - block_start_) / static_cast<double>(kBlockSteps);
    open_block(now, per_step > kLongStepSeconds);
  }
  --left_;
  if (!is_timed_) return;
  const bool is_first = left_ == kBlockSteps - 1;
  add_until_now(TimePart::compute);
  is_timed_ = is_exact_ || is_first;
}

TimeReport TimeAccount::end_epoch() {
  const double now = internal::now_seconds();
  close_block(now);
  is_running_ = is_timed_ = false;
  return {.seconds = total_, .wall_seconds = now - epoch_start_, .input = input_};
}

void TimeAccount::open_block(double now, bool is_exact) {
  is_exact_ = is_exact;
  is_timed_ = true;
  left_ = kBlockSteps;
  block_start_ = last_ = now;
  switched_ = scoped_ = {};
}

// What no scope measured is shared out as in the steps that were measured: in an exact block, all of them.
void TimeAccount::close_block(double now) {
  if (is_timed_) switched_[index_of(part_)] += now - last_;
  const double rest = now - block_start_ - sum(scoped_), measured = sum(switched_);
  for (size_t i = 0; i < kNumTimeParts; ++i)
    total_[i] += scoped_[i] + (measured > 0 ? rest * switched_[i] / measured : 0);
  if (measured <= 0) total_[index_of(TimePart::callbacks)] += rest;
}

void TimeAccount::add_until_now(TimePart next) {
  const double now = internal::now_seconds();
  if (depth_ == 0) switched_[index_of(part_)] += now - last_;
  last_ = now;
  part_ = next;
}

TimeAccount::Scope::Scope(TimeAccount* account, TimePart part, WaitedInput* input)
    : account_(account && account->is_running_ ? account : nullptr), part_(part) {
  if (account_ && (account_->depth_ > 0 || (account_->is_held_ && part == TimePart::input))) account_ = nullptr;
  if (!account_) return;
  if (input != nullptr) account_->input_ = input;
  start_ = internal::now_seconds();
  if (account_->is_timed_) account_->switched_[index_of(account_->part_)] += start_ - account_->last_;
  account_->depth_ = 1;
}

TimeAccount::Scope::~Scope() {
  if (!account_ || !account_->is_running_) return;
  const double now = internal::now_seconds();
  account_->scoped_[index_of(part_)] += now - start_;
  account_->last_ = now;
  account_->depth_ = 0;
}

double TimeReport::share(TimePart part) const { return wall_seconds > 0 ? seconds[index_of(part)] / wall_seconds : 0; }

TimePart TimeReport::largest() const {
  return static_cast<TimePart>(std::max_element(seconds.begin(), seconds.end()) - seconds.begin());
}

std::string TimeReport::verdict() const {
  const auto percent = [&](TimePart part) { return str(std::lround(100 * share(part)), " %"); };
  const TimePart most = largest();
  std::string text = str(most, "-bound ", percent(most));
  if (most == TimePart::input && input != nullptr)
    if (const std::string stage = input->slowest_stage(); !stage.empty()) text += str(": slowest stage ", stage);
  std::vector<std::string> others;
  for (size_t i = 0; i < kNumTimeParts; ++i)
    if (const auto part = static_cast<TimePart>(i); part != most) others.push_back(str(part, " ", percent(part)));
  return str(text, "; ", join(others));
}

}  // namespace martello
