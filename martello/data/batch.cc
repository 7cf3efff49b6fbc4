#include <martello/base/checked.h>
#include <martello/data/internal/rows.h>
#include <martello/data/internal/stage.h>
#include <martello/data/internal/stage_clock.h>

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

// The same from a source of rows, each of which is copied once.
class GatheringIterator final : public StageIterator {
 public:
  GatheringIterator(std::string stage, std::unique_ptr<IndexedIterator> source, const RowAccess& access, int64_t n,
                    BatchOptions options)
      : StageIterator(std::move(stage)),
        source_(std::move(source)),
        access_(access),
        flow_(*access.rows()),
        source_stage_(flow_.description()),
        n_(n),
        options_(options) {}

 private:
  std::optional<Datapoint> produce() override {
    const int64_t begin = source_->index(), count = std::min(n_, access_.count() - begin);
    source_->skip(count);
    if (count == 0 || (count < n_ && !options_.remainder)) return std::nullopt;
    const StageScope scope(source_stage_);
    rows_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) rows_[static_cast<size_t>(i)] = access_.row_of(begin + i);
    Datapoint batch;
    for (size_t i = 0; i < flow_.row_types().size(); ++i) batch.push_back(gathered(i));
    return batch;
  }
  HostTensor gathered(size_t component) const {
    const RowType& type = flow_.row_types()[component];
    const int64_t bytes = num_bytes(type), count = static_cast<int64_t>(rows_.size());
    std::vector<int64_t> dims = type.shape.symbolic();
    dims.insert(dims.begin(), count);
    Buffer buffer(checked_mul(bytes, count));
    std::byte* to = buffer.data();
    for (const int64_t row : rows_) {
      flow_.write_row(row, component, to);
      to += bytes;
    }
    return HostTensor::wrap(std::move(buffer), Shape(std::move(dims)), type.dtype);
  }
  void position(State& s) override { s("source", *source_); }
  void advance(int64_t n) override { source_->skip(saturating_mul(n, n_)); }

  std::unique_ptr<IndexedIterator> source_;
  const RowAccess& access_;  // the source's
  const RowFlow& flow_;
  std::string source_stage_;
  int64_t n_;
  BatchOptions options_;
  std::vector<int64_t> rows_;
};

std::unique_ptr<DataIterator> batches(const std::string& stage, std::unique_ptr<DataIterator> source, int64_t n,
                                      BatchOptions options) {
  const auto* indexed = dynamic_cast<const IndexedIterator*>(source.get());
  const auto* access = indexed ? dynamic_cast<const RowAccess*>(&indexed->access()) : nullptr;
  if (!access || !access->rows()) return std::make_unique<BatchIterator>(stage, std::move(source), n, options);
  std::unique_ptr<IndexedIterator> rows(static_cast<IndexedIterator*>(source.release()));
  return std::make_unique<GatheringIterator>(stage, std::move(rows), *access, n, options);
}

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
  flow.iterate = [=](const Pass& pass) { return batches(stage, source->iterate(pass), n, options); };
  return make_flow(std::move(flow));
}

}  // namespace martello
