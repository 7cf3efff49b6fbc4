#include <martello/callbacks/monitors/internal/chart.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace martello::internal {
namespace {

// 1, 2 or 5 times a power of ten, at least `x`.
double nice_above(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= x * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

Scale::Scale(const std::vector<double>& values, bool is_log, int most_ticks) : is_log_(is_log) {
  bool is_first = true;
  for (double v : values) {
    if (!std::isfinite(v)) continue;
    low_ = is_first ? v : std::min(low_, v);
    high_ = is_first ? v : std::max(high_, v);
    is_first = false;
  }
  is_log_ = is_log && low_ > 0;
  if (is_log_) make_log_ticks();
  else make_linear_ticks(most_ticks);
}

void Scale::make_linear_ticks(int most) {
  if (high_ == low_) {
    const double margin = high_ == 0 ? 1 : std::abs(high_) / 2;
    low_ -= margin;
    high_ += margin;
  }
  step_ = nice_above((high_ - low_) / most);
  const auto first = static_cast<int64_t>(std::floor(low_ / step_ + 1e-9));
  const auto last = static_cast<int64_t>(std::ceil(high_ / step_ - 1e-9));
  for (int64_t i = first; i <= last; ++i) ticks_.push_back(static_cast<double>(i) * step_);
  low_ = ticks_.front();
  high_ = ticks_.back();
}

// Decades, and 2 and 5 in between where there are few of them.
void Scale::make_log_ticks() {
  const auto first = static_cast<int>(std::floor(std::log10(low_))),
             last = static_cast<int>(std::ceil(std::log10(high_)));
  const bool has_few = last - first <= 3;
  for (int decade = first; decade <= last; ++decade) {
    for (double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, decade);
      const bool is_inside = tick > low_ / 2.51 && tick < high_ * 2.51;
      if ((factor == 1 || has_few) && is_inside) ticks_.push_back(tick);
    }
  }
  low_ = std::min(low_, ticks_.front());
  high_ = std::max(high_, ticks_.back());
}

double Scale::at(double value) const {
  if (is_log_) return std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

std::string Scale::label(double tick) const {
  const bool is_zero = !is_log_ && std::abs(tick) < step_ * 1e-9;
  char text[32];
  snprintf(text, sizeof text, "%.6g", is_zero ? 0 : tick);
  return text;
}

}  // namespace martello::internal
