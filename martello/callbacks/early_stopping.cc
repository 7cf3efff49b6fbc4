#include <martello/callbacks/early_stopping.h>

#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/loop/monitors.h>

#include <cmath>

namespace martello {

EarlyStopping::EarlyStopping(std::string stat, EarlyStoppingOptions options)
    : stat_(std::move(stat)), options_(options) {
  MARTELLO_CHECK(options.patience > 0, "[EarlyStopping '", stat_, "'] .patience is ", options.patience,
                 "; it must be at least 1.");
  MARTELLO_CHECK(options.threshold >= 0, "[EarlyStopping '", stat_, "'] .threshold is ", options.threshold,
                 "; it cannot be below 0.");
}

std::string EarlyStopping::description() const {
  return str("EarlyStopping(", stat_, ", patience=", options_.patience, ", threshold=", options_.threshold,
             ", reverse=", options_.reverse, ")");
}

void EarlyStopping::setup_graph() { monitors().check_repeatable(stat_, name()); }

bool EarlyStopping::is_better(double value) const {
  if (std::isnan(value)) return false;
  if (best_step_ < 0) return true;
  return options_.reverse ? value > best_ + options_.threshold : value < best_ - options_.threshold;
}

void EarlyStopping::trigger() {
  monitors().check_repeatable(stat_, name());
  const auto history = monitors().get_history(stat_);
  if (history.empty() || history.back().first == last_step_) return;
  const double value = history.back().second;
  last_step_ = history.back().first;
  if (is_better(value)) {
    best_ = value;
    best_step_ = last_step_;
    num_worse_ = 0;
    return;
  }
  if (++num_worse_ < options_.patience) return;
  throw StopTraining(best_step_ < 0 ? str("'", stat_, "' was never a number in ", num_worse_, " values")
                                    : str("'", stat_, "' did not get better than ", best_, ", of global_step ",
                                          best_step_, ", in ", num_worse_, " values; the last is ", value));
}

void EarlyStopping::state(State& s) {
  s("best", best_);
  s("best_step", best_step_);
  s("last_step", last_step_);
  s("num_worse", num_worse_);
}

}  // namespace martello
