#include <martello/base/checked.h>
#include <martello/data/internal/stage.h>

#include <algorithm>
#include <cstring>

namespace martello {

using namespace data::internal;

namespace {

constexpr int64_t kReservedRows = 1024;

std::string text_of(const HostTensor& t) { return str(t.dtype(), t.shape()); }

void check_same_kind(const std::string& stage, const Datapoint& first, const Datapoint& dp, size_t row) {
  MARTELLO_CHECK(dp.size() == first.size() && dp.keys() == first.keys(), "[", stage, "] datapoint ", row,
                 " of the batch is ", dp.signature(), ", datapoint 0 is ", first.signature(), ".");
  for (size_t i = 0; i < first.size(); ++i)
    MARTELLO_CHECK(dp[i].dtype() == first[i].dtype() && dp[i].shape() == first[i].shape(), "[", stage, "] component ",
                   i, " of datapoint ", row, " of the batch is ", text_of(dp[i]), ", that of datapoint 0 is ",
                   text_of(first[i]), ". Bring them to one shape by map() before batch().");
}

HostTensor stacked(const std::vector<Datapoint>& rows, size_t component) {
  const HostTensor& first = rows[0][component];
  std::vector<int64_t> dims = first.shape().symbolic();
  dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  const int64_t bytes = first.num_bytes();
  Buffer buffer(checked_mul(bytes, static_cast<int64_t>(rows.size())));
  for (size_t row = 0; row < rows.size(); ++row)
    std::memcpy(buffer.data() + static_cast<int64_t>(row) * bytes, rows[row][component].raw(),
                static_cast<size_t>(bytes));
  return HostTensor::wrap(std::move(buffer), Shape(std::move(dims)), first.dtype());
}

Datapoint stacked(const std::vector<Datapoint>& rows) {
  Datapoint batch;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (rows[0].keys().empty()) batch.push_back(stacked(rows, i));
    else batch.set(rows[0].keys()[i], stacked(rows, i));
  }
  return batch;
}

class BatchIterator final : public StageIterator {
 public:
  BatchIterator(std::string stage, std::unique_ptr<DataIterator> source, int64_t n, BatchOptions options)
      : StageIterator(std::move(stage)), source_(std::move(source)), n_(n), options_(options) {
    rows_.reserve(static_cast<size_t>(std::min(n, kReservedRows)));
  }

 private:
  std::optional<Datapoint> produce() override {
    rows_.clear();
    while (static_cast<int64_t>(rows_.size()) < n_) {
      std::optional<Datapoint> dp = source_->next();
      if (!dp) break;
      if (!rows_.empty()) check_same_kind(stage(), rows_[0], *dp, rows_.size());
      rows_.push_back(std::move(*dp));
    }
    const bool is_full = static_cast<int64_t>(rows_.size()) == n_;
    if (rows_.empty() || (!is_full && !options_.remainder)) return std::nullopt;
    Datapoint batch = stacked(rows_);
    rows_.clear();
    return batch;
  }
  void position(State& s) override { s("source", *source_); }
  void advance(int64_t n) override { source_->skip(saturating_mul(n, n_)); }

  std::unique_ptr<DataIterator> source_;
  int64_t n_;
  BatchOptions options_;
  std::vector<Datapoint> rows_;
};

}  // namespace

DataFlowRef DataFlowRef::batch(int64_t n, BatchOptions options, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "batch", line);
  const std::string stage = stage_text("batch", line);
  MARTELLO_CHECK(n > 0, "[", stage, "] a batch of ", n, " datapoints; it needs one or more.");
  const std::optional<int64_t> size = source.size();
  MARTELLO_CHECK(!size || options.remainder || *size >= n, "[", stage, "] batches of ", n, " from ", *size,
                 " datapoints: there would be none. Use a smaller batch, {.remainder = true}, or repeat().");
  FlowParts flow{.type = "batch", .options = str(n, options.remainder ? ", remainder=true" : ""), .sources = {source}};
  if (size) flow.size = options.remainder ? ceil_div(*size, n) : *size / n;
  flow.iterate = [=](const Pass& pass) {
    return std::make_unique<BatchIterator>(stage, source->iterate(pass), n, options);
  };
  return make_flow(std::move(flow));
}

}  // namespace martello
