#include <martello/input/feed_input.h>

#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/data/internal/stage_clock.h>
#include <martello/graph/core_ops.h>
#include <martello/loop/time_account.h>

namespace martello {

class FeedInput::Feeder : public Callback, public WaitedInput {
 public:
  Feeder(DataFlowRef flow, FeedInputOptions options)
      : flow_(std::move(flow)), options_(options), description_(flow_.description()) {
    set_chief_only(false);
  }
  std::string name() const override { return "FeedInput"; }
  std::string description() const override {
    return str("FeedInput(", description_, ", seed=", options_.seed, options_.infinite ? "" : ", infinite=false", ")");
  }
  std::optional<int64_t> size() const { return flow_.size(); }

  void setup(const std::vector<TensorSpec>& signature) {
    MARTELLO_CHECK(placeholders_.empty(), "[feed_input] is set up twice. One trainer, one input.");
    MARTELLO_CHECK(!signature.empty(), "[feed_input] the signature has no input to feed.");
    signature_ = signature;
    for (const TensorSpec& s : signature) placeholders_.push_back(placeholder(s.shape, s.dtype, Name(s.name, s.line)));
  }
  const TensorList& placeholders() const { return placeholders_; }
  void reset() { begin(0); }

  void before_train() override {
    account_ = context().time_account();
    reset();
  }
  void before_run(RunContext& run) override {
    const Datapoint datapoint = timed_next();
    check_size(datapoint);
    for (size_t i = 0; i < placeholders_.size(); ++i) run.feed(placeholders_[i], component(datapoint, i));
  }
  void after_train() override {
    iterator_.reset();
    account_ = nullptr;
  }
  std::string slowest_stage() override { return martello::slowest_stage(times_->take()); }
  void state(State& s) override {
    s("pass", pass_);
    if (s.restoring()) begin(pass_);
    if (iterator_ && s.has("position")) s("position", *iterator_);
  }

 private:
  void begin(int64_t pass) {
    pass_ = pass;
    iterator_ = flow_->iterate({.seed = options_.seed, .number = pass, .stage_times = times_});
  }
  // All of it is time that training waits.
  Datapoint timed_next() {
    const TimeAccount::Scope wait(account_, TimePart::input, this);
    return clock_.run([this] {
      const data::internal::StageScope scope(description_);
      return next();
    });
  }
  Datapoint next() {
    MARTELLO_ASSERT(iterator_, "a run comes before before_train.");
    if (auto datapoint = iterator_->next()) return std::move(*datapoint);
    if (!options_.infinite) throw EndOfData(str("the data is at its end after pass ", pass_));
    begin(pass_ + 1);
    if (auto datapoint = iterator_->next()) return std::move(*datapoint);
    throw InvalidArgument(str("[feed_input] data pass ", pass_, " is empty. A flow that trains gives datapoints."));
  }
  void check_size(const Datapoint& d) const {
    MARTELLO_CHECK(d.size() == placeholders_.size() || !d.keys().empty(), "[feed_input] a datapoint has ", d.size(),
                   " components ", d.signature(), " but the signature has ", placeholders_.size(), " inputs.");
  }
  const HostTensor& component(const Datapoint& d, size_t i) const {
    return d.keys().empty() ? d[i] : d[std::string_view(signature_[i].name)];
  }

  DataFlowRef flow_;
  FeedInputOptions options_;
  std::string description_;
  std::shared_ptr<StageTimes> times_ = std::make_shared<StageTimes>();
  data::internal::StageClock clock_{times_};
  TimeAccount* account_ = nullptr;
  std::vector<TensorSpec> signature_;
  TensorList placeholders_;
  int64_t pass_ = 0;
  std::unique_ptr<DataIterator> iterator_;
};

FeedInput::FeedInput(DataFlowRef flow, FeedInputOptions options) {
  MARTELLO_CHECK(flow, "[feed_input] the data flow is null.");
  feeder_ = std::make_shared<Feeder>(std::move(flow), options);
}

void FeedInput::setup(const std::vector<TensorSpec>& signature) { feeder_->setup(signature); }
TensorList FeedInput::get_input_tensors() { return feeder_->placeholders(); }
CallbackList FeedInput::get_callbacks() { return {feeder_}; }
std::optional<int64_t> FeedInput::size() const { return feeder_->size(); }
void FeedInput::reset_state() { feeder_->reset(); }

}  // namespace martello
