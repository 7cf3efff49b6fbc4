#include <martello/callbacks/hyper_param_setter.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/loop/monitors.h>

#include <algorithm>
#include <cstdio>

namespace martello {

HyperParamSetter::HyperParamSetter(HyperParamRef param) : param_(param.get()) {
  MARTELLO_CHECK(param_, "[HyperParamSetter] was given a null parameter.");
  set_chief_only(false);
}

std::string HyperParamSetter::description() const { return str(name(), "(", param_->readable_name(), ")"); }

void HyperParamSetter::setup_graph() { param_->setup_graph(context()); }

void HyperParamSetter::set_param() {
  if (const auto value = value_to_set()) set_param(*value);
}

void HyperParamSetter::set_param(double value) {
  if (!has_set_ || value != last_value_) {
    if (epoch_num() != last_epoch_) log_change(value);
    has_set_ = true;
    last_value_ = value;
    last_epoch_ = epoch_num();
  }
  param_->set_value(context(), value);
}

void HyperParamSetter::log_change(double value) const {
  char text[80];
  if (has_set_) snprintf(text, sizeof text, "changes from %.6g to %.6g.", last_value_, value);
  else snprintf(text, sizeof text, "is set to %.6g.", value);
  logger::info("[", name(), "] At global_step=", global_step(), ", ", param_->readable_name(), " ", text);
}

void HyperParamSetter::state(State& s) {
  s("has_set", has_set_);
  s("last_value", last_value_);
  s("last_epoch", last_epoch_);
  s("param", *param_);
}

HyperParamSetterWithFunc::HyperParamSetterWithFunc(HyperParamRef param, Function f)
    : HyperParamSetter(std::move(param)), function_(std::move(f)) {
  MARTELLO_CHECK(function_, "[HyperParamSetterWithFunc] its function is empty.");
}

void HyperParamSetterWithFunc::before_train() {
  if (epoch_num() != applied_epoch_) HyperParamSetter::before_train();
}

std::optional<double> HyperParamSetterWithFunc::value_to_set() {
  applied_epoch_ = epoch_num();
  return function_(epoch_num(), current_value());
}

void HyperParamSetterWithFunc::state(State& s) {
  HyperParamSetter::state(s);
  s("applied_epoch", applied_epoch_);
}

StatMonitorParamSetter::StatMonitorParamSetter(HyperParamRef param, std::string stat, Change change,
                                               StatMonitorOptions options)
    : HyperParamSetter(std::move(param)), stat_(std::move(stat)), change_(std::move(change)), options_(options) {
  MARTELLO_CHECK(change_, "[StatMonitorParamSetter] the function that changes the value is empty.");
  MARTELLO_CHECK(options.last_k > 0, "[StatMonitorParamSetter] .last_k is ", options.last_k,
                 "; it must be at least 1.");
}

std::string StatMonitorParamSetter::description() const {
  return str(name(), "(", param().readable_name(), ", ", stat_, ", threshold=", options_.threshold,
             ", last_k=", options_.last_k, ", reverse=", options_.reverse, ")");
}

void StatMonitorParamSetter::setup_graph() {
  HyperParamSetter::setup_graph();
  monitors().check_repeatable(stat_, name());
}

bool StatMonitorParamSetter::has_new_value() {
  monitors().check_repeatable(stat_, name());
  const auto history = monitors().get_history(stat_);
  if (history.empty()) {
    logger::warn("[StatMonitorParamSetter] '", stat_, "' has no value yet.");
    return false;
  }
  if (!steps_.empty() && steps_.back() == history.back().first) {
    logger::warn("[StatMonitorParamSetter] '", stat_, "' has no new value since step ", steps_.back(), ".");
    return false;
  }
  steps_.push_back(history.back().first);
  values_.push_back(history.back().second);
  return true;
}

bool StatMonitorParamSetter::has_improved() const {
  if (options_.reverse) return *std::max_element(values_.begin(), values_.end()) > values_[0] + options_.threshold;
  return *std::min_element(values_.begin(), values_.end()) < values_[0] - options_.threshold;
}

std::optional<double> StatMonitorParamSetter::value_to_set() {
  if (!has_new_value()) return std::nullopt;
  if (static_cast<int64_t>(values_.size()) > options_.last_k) {
    steps_.erase(steps_.begin());
    values_.erase(values_.begin());
  }
  if (static_cast<int64_t>(values_.size()) < options_.last_k || has_improved()) return std::nullopt;
  steps_.clear();
  values_.clear();
  const double old = current_value(), value = change_(old);
  logger::info("[StatMonitorParamSetter] '", stat_, "' did not get better in ", options_.last_k,
               " values: ", param().readable_name(), " goes from ", old, " to ", value, ".");
  return value;
}

void StatMonitorParamSetter::state(State& s) {
  HyperParamSetter::state(s);
  s("steps", steps_);
  s("values", values_);
}

}  // namespace martello
