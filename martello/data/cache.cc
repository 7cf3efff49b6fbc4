#include <martello/base/error.h>
#include <martello/data/internal/stage.h>

#include <map>
#include <mutex>

namespace martello {

using namespace data::internal;

namespace {

// The datapoints of data pass 0, read as far as somebody asked. All iterators share it, so a pass that is left early
// leaves nothing out.
class Store {
 public:
  Store(const DataFlowRef& source, const Pass& pass) : source_(source->iterate(pass)) {}

  std::optional<Datapoint> get(int64_t index) {
    const std::lock_guard lock(mutex_);
    while (source_ && size() <= index) read();
    if (index >= size()) return std::nullopt;
    return datapoints_[static_cast<size_t>(index)];
  }
  int64_t complete() {
    const std::lock_guard lock(mutex_);
    while (source_) read();
    return size();
  }

 private:
  int64_t size() const { return static_cast<int64_t>(datapoints_.size()); }
  void read() {
    if (std::optional<Datapoint> dp = source_->next()) datapoints_.push_back(std::move(*dp));
    else source_.reset();
  }

  std::mutex mutex_;
  std::unique_ptr<DataIterator> source_;  // null when all was read
  std::vector<Datapoint> datapoints_;
};

// One store for each seed and place in a pipeline.
class Stores {
 public:
  explicit Stores(DataFlowRef source) : source_(std::move(source)) {}
  std::shared_ptr<Store> get(const Pass& pass) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Store>& store = stores_[{pass.seed, pass.stage}];
    // Who is interrupted must not break the store for those who come later.
    if (!store) store = std::make_shared<Store>(source_, pass.with_number(0).with_interrupt(nullptr));
    return store;
  }

 private:
  DataFlowRef source_;
  std::mutex mutex_;
  std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<Store>> stores_;
};

class CacheIterator final : public StageIterator {
 public:
  CacheIterator(std::string stage, std::shared_ptr<Store> store)
      : StageIterator(std::move(stage)), store_(std::move(store)) {}

 private:
  std::optional<Datapoint> produce() override { return store_->get(index_++); }
  void position(State& s) override {
    s("index", index_);
    MARTELLO_CHECK(index_ >= 0, "[", stage(), "] position ", index_, " is restored. The state is damaged.");
  }
  void advance(int64_t n) override { index_ = saturating_add(index_, n); }

  std::shared_ptr<Store> store_;
  int64_t index_ = 0;
};

class CacheAccess final : public RandomAccess {
 public:
  explicit CacheAccess(std::shared_ptr<Store> store) : store_(std::move(store)), count_(store_->complete()) {}
  int64_t count() const override { return count_; }
  std::optional<Datapoint> get(int64_t index) override { return store_->get(index); }

 private:
  std::shared_ptr<Store> store_;
  int64_t count_;
};

}  // namespace

DataFlowRef DataFlowRef::cache(SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "cache", line);
  check_exact(source, "cache", line);
  const std::string stage = stage_text("cache", line);
  const auto stores = std::make_shared<Stores>(source);
  return make_flow(
      {.type = "cache",
       .sources = {source},
       .size = source.size(),
       .iterate = [=](const Pass& pass) { return std::make_unique<CacheIterator>(stage, stores->get(pass)); },
       .random_access = [=](const Pass& pass) { return std::make_shared<CacheAccess>(stores->get(pass)); }});
}

}  // namespace martello
