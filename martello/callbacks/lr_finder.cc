#include <martello/callbacks/lr_finder.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/base/state.h>
#include <martello/callbacks/internal/files.h>
#include <martello/callbacks/monitors/internal/chart.h>
#include <martello/loop/monitors.h>

#include <algorithm>
#include <cmath>

namespace martello {

LearningRateFinder::LearningRateFinder(HyperParamRef learning_rate, std::string loss, LearningRateFinderOptions options,
                                       SourceLine line)
    : rate_(learning_rate.get()), loss_name_(std::move(loss)), options_(options), line_(line) {
  MARTELLO_CHECK(rate_, "[LearningRateFinder] was given a null parameter.");
  MARTELLO_CHECK(options.from > 0 && options.to > options.from, "[LearningRateFinder] rates go from ", options.from,
                 " to ", options.to, "; they must be above 0 and grow.");
  MARTELLO_CHECK(options.steps >= 10, "[LearningRateFinder] ", options.steps, " steps are too few: 10 or more.");
  MARTELLO_CHECK(options.smoothing >= 0 && options.smoothing < 1, "[LearningRateFinder] .smoothing is ",
                 options.smoothing, "; it must lie in [0, 1).");
  MARTELLO_CHECK(options.diverged_at > 1, "[LearningRateFinder] .diverged_at is ", options.diverged_at,
                 "; it must be above 1.");
}

std::string LearningRateFinder::description() const {
  return str(name(), "(", rate_->readable_name(), ", ", loss_name_, ", from=", options_.from, ", to=", options_.to,
             ", steps=", options_.steps, ", smoothing=", options_.smoothing, ", diverged_at=", options_.diverged_at,
             ")");
}

void LearningRateFinder::setup_graph() {
  rate_->setup_graph(context());
  loss_ = context().get_tensor(loss_name_, line_);
  MARTELLO_CHECK(loss_.rank() == 0, "[LearningRateFinder] '", loss_name_, "' is ", loss_.shape(), ", not a scalar.");
  const TrainLoop& loop = context().loop();
  const auto epochs = static_cast<double>(loop.max_epoch - loop.starting_epoch + 1);
  MARTELLO_CHECK(epochs * static_cast<double>(loop.steps_per_epoch) >= static_cast<double>(options_.steps),
                 "[LearningRateFinder] needs ", options_.steps, " steps, but training has ", epochs, " epochs of ",
                 loop.steps_per_epoch, ".");
  losses_.reserve(static_cast<size_t>(options_.steps));
}

double LearningRateFinder::rate(size_t step) const {
  return options_.from *
         std::pow(options_.to / options_.from, static_cast<double>(step) / static_cast<double>(options_.steps - 1));
}

void LearningRateFinder::before_train() { rate_->set_value(context(), rate(losses_.size())); }
void LearningRateFinder::before_run(RunContext& run) { run.fetch(loss_, SourceLine()); }

void LearningRateFinder::after_run(RunContext& run) {
  const double loss = run.value().at(0);
  losses_.push_back(loss);
  // Divided by what is left of a start at 0.
  average_ = options_.smoothing * average_ + (1 - options_.smoothing) * loss;
  const double mean = average_ / (1 - std::pow(options_.smoothing, static_cast<double>(losses_.size())));
  least_ = losses_.size() == 1 ? mean : std::min(least_, mean);
}

bool LearningRateFinder::has_diverged() const {
  const double mean = average_ / (1 - std::pow(options_.smoothing, static_cast<double>(losses_.size())));
  return !std::isfinite(mean) || mean - least_ > (options_.diverged_at - 1) * std::abs(least_);
}

void LearningRateFinder::trigger_step() {
  const bool is_done = static_cast<int64_t>(losses_.size()) >= options_.steps;
  if (!losses_.empty() && (is_done || has_diverged()))
    throw StopTraining(str("learning rates up to ", rate(losses_.size() - 1), " were tried"));
  rate_->set_value(context(), rate(losses_.size()));
}

std::vector<double> LearningRateFinder::smoothed() const {
  std::vector<double> means;
  double average = 0;
  for (double loss : losses_) {
    average = options_.smoothing * average + (1 - options_.smoothing) * loss;
    means.push_back(average / (1 - std::pow(options_.smoothing, static_cast<double>(means.size() + 1))));
  }
  return means;
}

// Where the smoothed loss falls fastest, up to its least value. Rates grow by equal factors, so steps are a measure.
std::optional<double> LearningRateFinder::suggestion() const {
  const std::vector<double> means = smoothed();
  std::optional<double> best;
  double steepest = 0;
  const auto least = static_cast<size_t>(std::min_element(means.begin(), means.end()) - means.begin());
  for (size_t i = 1; i + 1 < means.size() && i <= least; ++i) {
    const double slope = means[i + 1] - means[i - 1];
    if (!(slope < steepest)) continue;
    steepest = slope;
    best = rate(i);
  }
  return best;
}

void LearningRateFinder::write_curve() const {
  const auto dir = logger::find_logger_dir();
  if (!dir || losses_.empty()) return;
  internal::Curve curve = {str("smoothed ", loss_name_), {}, smoothed()};
  std::string csv = "learning_rate,loss,smoothed_loss\n";
  for (size_t i = 0; i < losses_.size(); ++i) {
    curve.x.push_back(std::log10(rate(i)));
    csv += str(rate(i), ",", losses_[i], ",", curve.y[i], "\n");
  }
  internal::write_file(*dir + "/lr_finder.csv", csv);
  internal::draw_charts(*dir + "/lr_finder.png", "learning rates",
                        {{loss_name_, "log10 of the learning rate", {curve}}}, {});
}

void LearningRateFinder::after_train() {
  write_curve();
  const auto found = suggestion();
  if (!found) return logger::warn("[LearningRateFinder] '", loss_name_, "' never fell: no learning rate is suggested.");
  logger::info("[LearningRateFinder] '", loss_name_, "' falls fastest at ", rate_->readable_name(), " ", *found, ".");
  monitors().put_scalar("lr_finder/suggestion", *found);
}

void LearningRateFinder::state(State& s) {
  s("losses", losses_);
  s("average", average_);
  s("least", least_);
  s("learning_rate", *rate_);
}

}  // namespace martello
