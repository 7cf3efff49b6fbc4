#include <martello/callbacks/scheduled_setter.h>

#include <martello/base/error.h>
#include <martello/base/log.h>

#include <algorithm>
#include <cmath>

namespace martello {
namespace {

bool is_close(double a, double b) { return std::abs(a - b) <= 1e-8 + 1e-5 * std::abs(b); }

bool is_earlier(const SchedulePoint& a, const SchedulePoint& b) { return a.at < b.at; }

}  // namespace

ScheduledHyperParamSetter::ScheduledHyperParamSetter(HyperParamRef param, std::vector<SchedulePoint> schedule,
                                                     ScheduleOptions options, SourceLine line)
    : HyperParamSetter(std::move(param)), schedule_(std::move(schedule)), options_(options) {
  with_line(line, [&] {
    const std::string who = str("[ScheduledHyperParamSetter '", this->param().readable_name(), "']");
    MARTELLO_CHECK(!schedule_.empty(), who, " its schedule is empty, so it never applies.");
    std::stable_sort(schedule_.begin(), schedule_.end(), is_earlier);
    for (size_t i = 0; i < schedule_.size(); ++i) {
      const double at = schedule_[i].at;
      MARTELLO_CHECK(at >= 0 && at == std::trunc(at), who, " point ", at, " is none of 0, 1, 2 ...");
      MARTELLO_CHECK(i == 0 || schedule_[i - 1].at != at, who, " point ", at, " has two values, ",
                     schedule_[i - 1].value, " and ", schedule_[i].value, ".");
    }
  });
}

std::string ScheduledHyperParamSetter::description() const {
  std::vector<std::string> points;
  for (const SchedulePoint& p : schedule_) points.push_back(str(p.at, ": ", p.value));
  return str(name(), "(", param().readable_name(), ", {", join(points), "}",
             options_.interp == Interp::linear ? ", linear" : "", options_.step_based ? ", step_based" : "",
             options_.set_at_beginning ? "" : ", set_at_beginning=false", ")");
}

void ScheduledHyperParamSetter::setup_graph() {
  HyperParamSetter::setup_graph();
  for (const SchedulePoint& p : schedule_) param().check(p.value);
  const TrainLoop& loop = context().loop();
  if (!options_.step_based && loop.max_epoch >= loop.starting_epoch) check_is_reached(loop.max_epoch, "epoch");
}

void ScheduledHyperParamSetter::check_is_reached(int64_t last_point, std::string_view what) const {
  MARTELLO_CHECK(schedule_[0].at <= static_cast<double>(last_point), "[ScheduledHyperParamSetter '",
                 param().readable_name(), "'] never applies: its first point is ", what, " ", schedule_[0].at,
                 ", but training ends with ", what, " ", last_point, ". Begin earlier, or take it away.");
}

std::optional<double> ScheduledHyperParamSetter::value_at(int64_t point) const {
  const auto at = static_cast<double>(point);
  const auto next = std::lower_bound(schedule_.begin(), schedule_.end(), SchedulePoint{at, 0}, is_earlier);
  if (next == schedule_.end()) return std::nullopt;
  if (next->at == at) return next->value;
  if (next == schedule_.begin() || options_.interp == Interp::none) return std::nullopt;
  const SchedulePoint &a = next[-1], &b = next[0];
  return (at - a.at) / (b.at - a.at) * (b.value - a.value) + a.value;
}

std::optional<double> ScheduledHyperParamSetter::value_until(int64_t point) const {
  if (const auto value = value_at(point)) return value;
  const SchedulePoint now = {static_cast<double>(point), 0};
  const auto next = std::upper_bound(schedule_.begin(), schedule_.end(), now, is_earlier);
  return next == schedule_.begin() ? std::nullopt : std::optional(next[-1].value);
}

void ScheduledHyperParamSetter::before_train() {
  const TrainLoop& loop = context().loop();
  const int64_t epochs = loop.max_epoch - loop.starting_epoch + 1;
  const bool has_end = loop.steps_per_epoch == 0 || epochs <= (INT64_MAX - loop.global_step) / loop.steps_per_epoch;
  if (options_.step_based && epochs > 0 && has_end)
    check_is_reached(loop.global_step + epochs * loop.steps_per_epoch, "global_step");
  HyperParamSetter::before_train();
  check_value_at_beginning();
}

void ScheduledHyperParamSetter::check_value_at_beginning() {
  const auto due = value_until(point());
  const double actual = current_value();
  if (!due || is_close(*due, actual)) return;
  logger::warn("[ScheduledHyperParamSetter] by its schedule '", param().readable_name(), "' should be ", *due,
               " now, after ", options_.step_based ? "global_step " : "epoch ", point(), ", but it is ", actual, ".");
  if (options_.set_at_beginning) set_param(*due);
  else logger::warn("[ScheduledHyperParamSetter] it stays ", actual, ", because .set_at_beginning is off.");
}

void ScheduledHyperParamSetter::trigger_step() {
  if (options_.step_based) trigger();
}

void ScheduledHyperParamSetter::trigger_epoch() {
  if (!options_.step_based) trigger();
}

}  // namespace martello
