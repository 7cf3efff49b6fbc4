#pragma once
#include <martello/data/dataflow.h>

#include <exception>

namespace martello::data::internal {

// "map 'decode' (train.cc:12)": how errors name a stage.
std::string stage_text(std::string_view type, const SourceLine& line, std::string_view name = {});

// The current exception with the stage that failed: ours gain a line, unless a stage below wrote one; others become the
// cause of a DataError.
std::exception_ptr current_error_in(const std::string& stage);

// Base of the iterators of this library: an end stays an end, an error is sticky and names its stage.
class StageIterator : public DataIterator {
 public:
  std::optional<Datapoint> next() final;
  void state(State& s) final;
  void skip(int64_t n) final;

 protected:
  explicit StageIterator(std::string stage) : stage_(std::move(stage)) {}
  virtual std::optional<Datapoint> produce() = 0;
  virtual void position(State& s) = 0;
  // Passes over n datapoints; at the end it may stop early.
  virtual void advance(int64_t n);
  const std::string& stage() const { return stage_; }

 private:
  std::string stage_;
  std::exception_ptr error_;
  bool has_ended_ = false;
};

// Reads random access from the first index to the last.
class IndexedIterator final : public StageIterator {
 public:
  IndexedIterator(std::string stage, std::shared_ptr<RandomAccess> access);
  const RandomAccess& access() const { return *access_; }
  int64_t index() const { return index_; }  // of the next datapoint

 private:
  std::optional<Datapoint> produce() override;
  void position(State& s) override;
  void advance(int64_t n) override;

  std::shared_ptr<RandomAccess> access_;
  int64_t count_, index_ = 0;
};

// A flow made of functions: all that a stage of this library is besides its iterator.
struct FlowParts {
  std::string type;          // "map"; empty for a stage that changes nothing and is left out of descriptions
  std::string options = {};  // "128, remainder=true"
  std::vector<DataFlowRef> sources = {};
  std::optional<int64_t> size = {};
  std::function<std::unique_ptr<DataIterator>(Pass)> iterate = {};
  std::function<std::shared_ptr<RandomAccess>(const Pass&)> random_access = {};
  bool is_exact = true;
};
DataFlowRef make_flow(FlowParts parts);

// Refuses a DataFlowRef that holds nothing.
const DataFlowRef& checked_source(const DataFlowRef& flow, std::string_view type, const SourceLine& line);
// Refuses a source that would give its datapoints in another order when it is restored: what a stage saves by number
// would be others.
void check_exact(const DataFlowRef& flow, std::string_view type, const SourceLine& line);
void check_sources(const std::vector<DataFlowRef>& flows, std::string_view type, const SourceLine& line);

// a * b, or the greatest number: for positions that lie beyond every end.
int64_t saturating_mul(int64_t a, int64_t b);
int64_t saturating_add(int64_t a, int64_t b);

}  // namespace martello::data::internal
