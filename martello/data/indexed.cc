#include <martello/base/error.h>
#include <martello/data/internal/rows.h>
#include <martello/data/internal/stage.h>
#include <martello/data/internal/stage_clock.h>

namespace martello {
namespace {

class IndexedAccess final : public data::internal::RowAccess {
 public:
  IndexedAccess(std::shared_ptr<const IndexedFlow> flow, const Pass& pass)
      : flow_(std::move(flow)), stage_(flow_->description()), key_(pass.key()), count_(flow_->count()) {
    MARTELLO_CHECK(count_ >= 0, "[", stage_, "] count() is ", count_, "; it must be 0 or more.");
  }
  int64_t count() const override { return count_; }
  std::optional<Datapoint> get(int64_t index) override {
    const data::internal::StageScope scope(stage_);
    Rng rng(key_, static_cast<uint64_t>(index));
    return flow_->get(index, rng);
  }
  const data::internal::RowFlow* rows() const override {
    return dynamic_cast<const data::internal::RowFlow*>(flow_.get());
  }
  int64_t row_of(int64_t index) const override { return index; }

 private:
  std::shared_ptr<const IndexedFlow> flow_;
  std::string stage_;
  uint64_t key_;
  int64_t count_;
};

class FunctionFlow final : public IndexedFlow {
 public:
  FunctionFlow(int64_t count, std::function<Datapoint(int64_t, Rng&)> f, SourceLine line)
      : count_(count), f_(std::move(f)), line_(line) {}
  int64_t count() const override { return count_; }
  Datapoint get(int64_t index, Rng& rng) const override { return f_(index, rng); }
  std::string description() const override { return str("from_index(", count_, ", ", line_, ")"); }

 private:
  int64_t count_;
  std::function<Datapoint(int64_t, Rng&)> f_;
  SourceLine line_;
};

}  // namespace

// A flow that lives on somebody's stack has no owner to share; it must outlive its iterators then.
std::shared_ptr<const IndexedFlow> IndexedFlow::self() const { return {weak_from_this().lock(), this}; }

std::shared_ptr<RandomAccess> IndexedFlow::random_access(const Pass& pass) const {
  return std::make_shared<IndexedAccess>(self(), pass);
}

std::unique_ptr<DataIterator> IndexedFlow::iterate(Pass pass) const {
  return std::make_unique<data::internal::IndexedIterator>(description(), random_access(pass));
}

std::string IndexedFlow::description() const { return str(DataFlow::description(), "(", count(), ")"); }

DataFlowRef data::from_index(int64_t count, std::function<Datapoint(int64_t, Rng&)> f, SourceLine line) {
  MARTELLO_CHECK(count >= 0, "[from_index (", line, ")] has ", count, " datapoints; the count must be 0 or more.");
  MARTELLO_CHECK(f, "[from_index (", line, ")] the function is empty.");
  return FunctionFlow(count, std::move(f), line);
}

}  // namespace martello
