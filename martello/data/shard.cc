#include <martello/base/checked.h>
#include <martello/data/internal/stage.h>

namespace martello {

using namespace data::internal;

namespace {

class ShardIterator final : public StageIterator {
 public:
  ShardIterator(std::string stage, std::unique_ptr<DataIterator> source, int64_t index, int64_t count)
      : StageIterator(std::move(stage)), source_(std::move(source)), count_(count), gap_(index) {}

 private:
  std::optional<Datapoint> produce() override {
    source_->skip(gap_);
    gap_ = count_ - 1;
    return source_->next();
  }
  void position(State& s) override { s("gap", gap_), s("source", *source_); }
  void advance(int64_t n) override {
    source_->skip(saturating_add(gap_, saturating_add(saturating_mul(n - 1, count_), 1)));
    gap_ = count_ - 1;
  }

  std::unique_ptr<DataIterator> source_;
  int64_t count_, gap_;
};

class ShardAccess final : public RandomAccess {
 public:
  ShardAccess(std::shared_ptr<RandomAccess> source, int64_t index, int64_t count)
      : source_(std::move(source)), index_(index), shards_(count) {}
  int64_t count() const override { return (source_->count() + shards_ - 1 - index_) / shards_; }
  std::optional<Datapoint> get(int64_t i) override { return source_->get(index_ + i * shards_); }
  void state(State& s) override { s("source", *source_); }

 private:
  std::shared_ptr<RandomAccess> source_;
  int64_t index_, shards_;
};

}  // namespace

DataFlowRef DataFlowRef::shard(int64_t index, int64_t count, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "shard", line);
  const std::string stage = stage_text("shard", line);
  MARTELLO_CHECK(count >= 1 && 0 <= index && index < count, "[", stage, "] shard ", index, " of ", count,
                 ": there must be one or more, and the index below their number.");
  FlowParts flow{.type = "shard", .options = str(index, " of ", count), .sources = {source}};
  if (const auto size = source.size()) flow.size = *size > index ? ceil_div(*size - index, count) : 0;
  flow.iterate = [=](const Pass& pass) {
    return std::make_unique<ShardIterator>(stage, source->iterate(pass), index, count);
  };
  flow.random_access = [=](const Pass& pass) -> std::shared_ptr<RandomAccess> {
    auto access = source->random_access(pass);
    return access && !access->may_drop() ? std::make_shared<ShardAccess>(std::move(access), index, count) : nullptr;
  };
  return make_flow(std::move(flow));
}

}  // namespace martello
