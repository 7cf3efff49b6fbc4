#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/callbacks/summaries.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/monitors.h>
#include <martello/ops/summary.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace martello {

MovingAverageSummary::MovingAverageSummary(MovingAverageSummaryOptions options) : options_(std::move(options)) {}

std::string MovingAverageSummary::description() const {
  return str(name(), "(", options_.collection.name, options_.train_op.empty() ? "" : ", train_op=", options_.train_op,
             ")");
}

void MovingAverageSummary::setup_graph() {
  const Graph graph = context().graph();
  const auto updates = graph.collections().get(options_.collection);
  if (updates.empty()) return;
  logger::info("[MovingAverageSummary] ", updates.size(), " averages of '", options_.collection.name, "' are updated ",
               options_.train_op.empty() ? "in every hooked run." : str("with '", options_.train_op, "'."));
  if (options_.train_op.empty()) {
    op_ = group(updates, "maintain_moving_average_summary");
    return;
  }
  const Operation train_op = graph.get_operation(options_.train_op);
  for (const Operation& update : updates) add_control_dependency(train_op, update);
}

void MovingAverageSummary::before_run(RunContext& run) {
  if (!op_.is_null()) run.fetch(op_);
}

struct MergeAllSummaries::Impl {
  MergeAllSummariesOptions options;
  std::vector<Summary> summaries = {};
  std::vector<int> fetched = {};  // of the run in progress; empty when summaries are not due

  void put(Monitors& monitors, const Summary& summary, const HostTensor& value) const {
    if (summary.kind == SummaryKind::scalar) monitors.put_scalar(summary.tag, value.at(0));
    else if (summary.kind == SummaryKind::histogram) monitors.put_histogram(summary.tag, value);
    else monitors.put_image(summary.tag, value);
  }
};

MergeAllSummaries::MergeAllSummaries(MergeAllSummariesOptions options) : impl_(new Impl{options}) {
  MARTELLO_CHECK(options.period >= 0, "[MergeAllSummaries] period is ", options.period, "; 0 means none.");
}
MergeAllSummaries::MergeAllSummaries(MergeAllSummaries&&) noexcept = default;
MergeAllSummaries::~MergeAllSummaries() = default;

std::string MergeAllSummaries::description() const {
  const MergeAllSummariesOptions& o = impl_->options;
  return str(name(), "(", o.collection.name, ", period=", o.period, ", run_alone=", o.run_alone, ")");
}

void MergeAllSummaries::setup_graph() {
  std::set<std::string> tags;
  for (const Tensor& entry : context().graph().collections().get(impl_->options.collection)) {
    const Summary summary = summary_of(entry);
    if (!tags.insert(summary.tag).second)
      logger::warn("[MergeAllSummaries] two summaries are called '", summary.tag, "'; the later one is shown.");
    impl_->summaries.push_back(summary);
  }
  impl_->fetched.reserve(impl_->summaries.size());
}

std::vector<std::string> MergeAllSummaries::provides() const {
  std::set<std::string> tags;
  for (const Tensor& entry : Graph::current_or_new().collections().get(impl_->options.collection)) {
    const Summary summary = summary_of(entry);
    if (summary.kind == SummaryKind::scalar) tags.insert(summary.tag);
  }
  return {tags.begin(), tags.end()};
}

bool MergeAllSummaries::is_period() const {
  return impl_->options.period > 0 && (local_step() + 1) % impl_->options.period == 0;
}

void MergeAllSummaries::before_run(RunContext& run) {
  impl_->fetched.clear();
  if (impl_->options.run_alone || !(is_period() || context().loop().is_last_step())) return;
  for (const Summary& summary : impl_->summaries) impl_->fetched.push_back(run.fetch(summary.value));
}

void MergeAllSummaries::after_run(RunContext& run) {
  for (size_t i = 0; i < impl_->fetched.size(); ++i)
    impl_->put(monitors(), impl_->summaries[i], run.value(impl_->fetched[i]));
}

void MergeAllSummaries::trigger_step() {
  if (impl_->options.run_alone && is_period() && !context().loop().is_last_step()) trigger();
}

void MergeAllSummaries::trigger() {
  if (!impl_->options.run_alone || impl_->summaries.empty()) return;
  TensorList fetches;
  for (const Summary& summary : impl_->summaries) fetches.push_back(summary.value);
  const HostTensors values = sess().run(fetches);
  for (size_t i = 0; i < values.size(); ++i) impl_->put(monitors(), impl_->summaries[i], values[i]);
}

SimpleMovingAverage::SimpleMovingAverage(std::vector<std::string> tensors, int64_t window)
    : names_(std::move(tensors)), window_(window) {
  MARTELLO_CHECK(window > 0, "[SimpleMovingAverage] the window is ", window, " runs; it must be at least 1.");
  MARTELLO_CHECK(!names_.empty(), "[SimpleMovingAverage] was given no tensors.");
}

std::string SimpleMovingAverage::description() const {
  return str(name(), "(", join(names_), ", window=", window_, ")");
}

void SimpleMovingAverage::setup_graph() {
  for (const std::string& name : names_) {
    const Tensor t = context().get_tensor(name);
    MARTELLO_CHECK(t.rank() == 0, "[SimpleMovingAverage] '", name, "' is ", t.shape(), ", not a scalar.");
    tensors_.push_back(t);
  }
  values_.resize(names_.size() * static_cast<size_t>(window_));
}

void SimpleMovingAverage::before_run(RunContext& run) {
  for (const Tensor& t : tensors_) run.fetch(t);
}

void SimpleMovingAverage::after_run(RunContext& run) {
  const int64_t slot = taken_++ % window_, count = std::min(taken_, window_);
  const bool is_due = global_step() % window_ == 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto first = values_.begin() + static_cast<int64_t>(i) * window_;
    first[slot] = run.value(static_cast<int>(i)).at(0);
    if (is_due) monitors().put_scalar(names_[i] + "/SMA", std::accumulate(first, first + count, 0.0) / double(count));
  }
}

std::vector<std::string> SimpleMovingAverage::provides() const {
  std::vector<std::string> scalars;
  for (const std::string& name : names_) scalars.push_back(name + "/SMA");
  return scalars;
}

void SimpleMovingAverage::state(State& s) {
  s("taken", taken_);
  s("values", values_);
}

}  // namespace martello
