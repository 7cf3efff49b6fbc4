#include <martello/base/checked.h>
#include <martello/data/internal/repeat.h>

#include <algorithm>

namespace martello {
namespace data::internal {

RepeatIterator::RepeatIterator(std::string stage, DataFlowRef source, Pass pass, int64_t times)
    : StageIterator(std::move(stage)), source_(std::move(source)), pass_(std::move(pass)), times_(times) {}

std::optional<Datapoint> RepeatIterator::produce() {
  while (times_ < 0 || repetition_ < times_) {
    if (!iterator_) open();
    if (std::optional<Datapoint> dp = iterator_->next()) {
      is_empty_ = false;
      return dp;
    }
    MARTELLO_CHECK(!is_empty_, "[", stage(), "] data pass ", repetition_, " of ", source_.description(),
                   " gave no datapoint: repeating it would never end.");
    iterator_.reset();
    ++repetition_;
  }
  return std::nullopt;
}

void RepeatIterator::open() {
  iterator_ = source_->iterate(pass_.repetition(repetition_, times_));
  is_empty_ = true;
}

void RepeatIterator::position(State& s) {
  bool is_open = iterator_ != nullptr, is_empty = is_empty_;
  s("repetition", repetition_), s("is_open", is_open), s("is_empty", is_empty);
  if (s.restoring()) {
    iterator_.reset();
    if (is_open) open();
    is_empty_ = is_empty;
  }
  if (is_open) s("source", *iterator_);
}

// Passes whose length is known for certain are passed over whole.
void RepeatIterator::advance(int64_t n) {
  const auto access = iterator_ ? nullptr : source_->random_access(pass_.repetition(repetition_, times_));
  const int64_t length = access && !access->may_drop() ? access->count() : 0;
  if (length == 0) return StageIterator::advance(n);
  const int64_t left = times_ < 0 ? n / length : std::min(n / length, times_ - repetition_);
  repetition_ += left;
  StageIterator::advance(std::min(n - left * length, length));
}

}  // namespace data::internal

using namespace data::internal;

namespace {

class TakeIterator final : public StageIterator {
 public:
  TakeIterator(std::string stage, std::unique_ptr<DataIterator> source, int64_t n)
      : StageIterator(std::move(stage)), source_(std::move(source)), n_(n) {}

 private:
  std::optional<Datapoint> produce() override {
    if (given_ == n_) return std::nullopt;
    std::optional<Datapoint> dp = source_->next();
    given_ += dp.has_value();
    return dp;
  }
  void position(State& s) override { s("given", given_), s("source", *source_); }
  void advance(int64_t n) override {
    const int64_t step = std::min(n, n_ - given_);
    source_->skip(step);
    given_ += step;
  }

  std::unique_ptr<DataIterator> source_;
  int64_t n_, given_ = 0;
};

class TakeAccess final : public RandomAccess {
 public:
  TakeAccess(std::shared_ptr<RandomAccess> source, int64_t n)
      : source_(std::move(source)), count_(std::min(n, source_->count())) {}
  int64_t count() const override { return count_; }
  std::optional<Datapoint> get(int64_t index) override { return source_->get(index); }
  void state(State& s) override { s("source", *source_); }

 private:
  std::shared_ptr<RandomAccess> source_;
  int64_t count_;
};

}  // namespace

DataFlowRef DataFlowRef::repeat(int64_t times, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "repeat", line);
  const std::string stage = stage_text("repeat", line);
  MARTELLO_CHECK(times == -1 || times >= 1, "[", stage, "] ", times, " times; it must be 1 or more, or -1 for ever.");
  MARTELLO_CHECK(source.size() != 0, "[", stage, "] ", source.description(),
                 " is empty: repeating it would never end.");
  FlowParts flow{.type = "repeat", .options = str(times), .sources = {source}};
  if (times > 0 && source.size()) flow.size = checked_mul(*source.size(), times);
  flow.iterate = [=](Pass pass) { return std::make_unique<RepeatIterator>(stage, source, std::move(pass), times); };
  return make_flow(std::move(flow));
}

DataFlowRef DataFlowRef::take(int64_t n, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "take", line);
  const std::string stage = stage_text("take", line);
  MARTELLO_CHECK(n >= 1, "[", stage, "] takes ", n, " datapoints; it must take one or more.");
  FlowParts flow{.type = "take", .options = str(n), .sources = {source}};
  if (source.size()) flow.size = std::min(n, *source.size());
  flow.iterate = [=](const Pass& pass) { return std::make_unique<TakeIterator>(stage, source->iterate(pass), n); };
  flow.random_access = [=](const Pass& pass) -> std::shared_ptr<RandomAccess> {
    auto access = source->random_access(pass);
    // Among datapoints of which some are dropped the n-th has no index.
    return access && !access->may_drop() ? std::make_shared<TakeAccess>(std::move(access), n) : nullptr;
  };
  return make_flow(std::move(flow));
}

DataFlowRef DataFlowRef::fixed_size(int64_t n, FixedSizeOptions options, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "fixed_size", line);
  const std::string stage = stage_text("fixed_size", line);
  MARTELLO_CHECK(n >= 1, "[", stage, "] has ", n, " datapoints; it must have one or more.");
  MARTELLO_CHECK(source.size() != 0, "[", stage, "] ", source.description(), " is empty.");
  FlowParts flow{.type = "fixed_size",
                 .options = str(n, options.keep_state ? "" : ", keep_state=false"),
                 .sources = {source},
                 .size = n};
  flow.iterate = [=](const Pass& pass) {
    auto endless = std::make_unique<RepeatIterator>(stage, source, options.keep_state ? pass.with_number(0) : pass, -1);
    if (options.keep_state) endless->skip(checked_mul(pass.number, n));
    return std::make_unique<TakeIterator>(stage, std::move(endless), n);
  };
  return make_flow(std::move(flow));
}

}  // namespace martello
