#include <martello/loop/internal/hook_timing.h>

#include <martello/base/log.h>

#include <cmath>

namespace martello {
namespace {

double rounded(double value) { return std::round(value * 100) / 100; }

}  // namespace

std::vector<HookTime> CallbackGroup::Timing::times() const {
  std::vector<HookTime> list;
  for (size_t i = 0; i < spans_.size(); ++i)
    for (size_t p = 0; p < kNumPhases; ++p) {
      const Span& s = spans_[i][p];
      const auto phase = static_cast<Phase>(p);
      const int64_t scale = is_of_step(phase) ? kPeriod : 1;
      if (s.calls > 0)
        list.push_back({callbacks_[i]->name(), phase, s.seconds * static_cast<double>(scale), s.calls * scale});
    }
  return list;
}

void CallbackGroup::Timing::report_phase(Phase phase) {
  const size_t p = static_cast<size_t>(phase);
  double total = 0;
  for (const auto& s : spans_) total += s[p].seconds - s[p].reported_seconds;
  std::vector<std::string> slow;
  for (size_t i = 0; i < spans_.size(); ++i) {
    Span& s = spans_[i][p];
    const double seconds = s.seconds - s.reported_seconds;
    s.reported_seconds = s.seconds;
    if (seconds > limits_.member_seconds && seconds > limits_.member_share * total)
      slow.push_back(str(callbacks_[i]->name(), " ", rounded(seconds), " s"));
  }
  if (total >= limits_.phase_seconds)
    logger::info("[callbacks] ", phase, " took ", rounded(total), " s in all", slow.empty() ? "" : ": ", join(slow),
                 ".");
}

void CallbackGroup::Timing::report_steps(double wall_seconds) {
  std::vector<std::string> slow;
  for (size_t i = 0; i < spans_.size(); ++i)
    for (const Phase phase : {Phase::before_run, Phase::after_run, Phase::trigger_step}) {
      Span& s = spans_[i][static_cast<size_t>(phase)];
      const double seconds = (s.seconds - s.reported_seconds) * static_cast<double>(kPeriod);
      s.reported_seconds = s.seconds;
      if (seconds > limits_.step_seconds && seconds > limits_.step_share * wall_seconds)
        slow.push_back(str(callbacks_[i]->name(), ".", phase, " about ",
                           std::lround(100 * std::min(seconds / wall_seconds, 1.0)), " %"));
    }
  if (!slow.empty()) logger::info("[callbacks] slow in every step: ", join(slow), " of the epoch's time.");
}

}  // namespace martello
