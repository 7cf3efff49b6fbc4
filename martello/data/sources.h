#pragma once
#include <martello/data/dataflow.h>
#include <martello/data/generator.h>
#include <martello/tensor/tensor_spec.h>

#include <functional>
#include <vector>

namespace martello {

// A flow by index: position is arithmetic and costs the same anywhere. get() is called by several threads at once where
// several iterate. Random numbers are keyed by the index, so that order does not matter.
class IndexedFlow : public DataFlow {
 public:
  virtual Datapoint get(int64_t index, Rng& rng) const = 0;
  virtual int64_t count() const = 0;

  std::optional<int64_t> size() const final { return count(); }
  std::unique_ptr<DataIterator> iterate(Pass pass) const final;
  std::shared_ptr<RandomAccess> random_access(const Pass& pass) const final;
  std::string description() const override;

 private:
  std::shared_ptr<const IndexedFlow> self() const;
};

// A flow as a coroutine. A position is restored by running the coroutine again up to it, which is logged.
class GeneratorFlow : public DataFlow {
 public:
  virtual Generator<Datapoint> generate(Pass pass) const = 0;
  std::unique_ptr<DataIterator> iterate(Pass pass) const final;
};

namespace data {

DataFlowRef from_index(int64_t count, std::function<Datapoint(int64_t, Rng&)> f, SourceLine = SourceLine::current());
// The flow owns f, so what a coroutine lambda captures by value lives as long as its iterators.
DataFlowRef from_generator(std::function<Generator<Datapoint>(Pass)> f, SourceLine = SourceLine::current());
DataFlowRef from_list(std::vector<Datapoint> list);
// Row i of each array, without the first dimension, in which all must agree.
DataFlowRef from_arrays(HostTensors arrays);

struct FakeOptions {
  bool random = true;  // false: the same datapoint again and again
  double low = 0, high = 1;
};
// Datapoints of these shapes and dtypes, without the first dimension where it is unknown (the batch's).
DataFlowRef fake(std::vector<TensorSpec> specs, int64_t size = 1000, FakeOptions options = {});

}  // namespace data
}  // namespace martello
