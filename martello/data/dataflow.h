#pragma once
#include <martello/base/ref.h>
#include <martello/base/source_line.h>
#include <martello/base/state.h>
#include <martello/data/datapoint.h>
#include <martello/data/map_function.h>
#include <martello/data/options.h>
#include <martello/data/pass.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace martello {

// Stands somewhere in one data pass. Used by one thread at a time.
class DataIterator {
 public:
  virtual ~DataIterator() = default;
  // The next datapoint; none at the end, and at every call after it.
  virtual std::optional<Datapoint> next() = 0;
  // Saves the position, or goes to a saved one. It is that of the last datapoint given, whatever was read ahead.
  virtual void state(State& s) = 0;
  // Passes over n datapoints, or to the end.
  virtual void skip(int64_t n);
};

// One data pass by number: what shuffle() needs.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual int64_t count() const = 0;
  virtual std::optional<Datapoint> get(int64_t index) = 0;  // none: dropped by a map or filter
  virtual bool may_drop() const { return false; }
  virtual void state(State&) {}
};

// Where datapoints come from. Immutable: all that changes while one reads lies in iterators.
// Three ways to write one: IndexedFlow and GeneratorFlow (sources.h), or this with an iterator of your own.
class DataFlow : public std::enable_shared_from_this<DataFlow> {
 public:
  virtual ~DataFlow() = default;
  virtual std::unique_ptr<DataIterator> iterate(Pass pass) const = 0;
  // Datapoints in one pass, where that is known.
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  virtual std::shared_ptr<RandomAccess> random_access(const Pass&) const { return nullptr; }
  // Type and options, the same for equal flows: part of what a checkpoint compares. The default is the type's name.
  virtual std::string description() const;
  // Whether a restored iterator gives the very datapoints that the saved one would have given, in that order.
  virtual bool is_exact() const { return true; }
};

using MapComponentFn = std::function<HostTensor(HostTensor)>;

// A flow one holds and composes: train.shuffle().map(f).batch(128).
class DataFlowRef : public Ref<DataFlow> {
 public:
  using Ref<DataFlow>::Ref;

  // All datapoints in another order each pass, without memory for it. Needs random access: put it next to the source.
  DataFlowRef shuffle(SourceLine = SourceLine::current()) const;
  // Draws from a buffer of datapoints, for sources that can only be read in order.
  DataFlowRef shuffle_locally(int64_t buffer, SourceLine = SourceLine::current()) const;

  DataFlowRef map(MapFunction f, const MapOptions& = {}, SourceLine = SourceLine::current()) const;
  DataFlowRef map_component(const Component& component, MapComponentFn f, SourceLine = SourceLine::current()) const;
  DataFlowRef filter(std::function<bool(const Datapoint&)> f, SourceLine = SourceLine::current()) const;
  DataFlowRef select(const std::vector<Component>& components, SourceLine = SourceLine::current()) const;
  // f is a map function with `void state(State&)`: it runs on one thread, in order, and is saved with the position.
  template <HasState F>
  DataFlowRef stateful_map(F f, const MapOptions& options = {}, SourceLine line = SourceLine::current()) const {
    static_assert(internal::is_map_function<F&>, "stateful_map: f must take a Datapoint and give one");
    return stateful_map_of(std::make_shared<internal::StatefulFunctionOf<F>>(std::move(f)), options, line);
  }
  // map() on several threads. The order, and every random number, is that of map().
  template <class F>
  DataFlowRef parallel_map(F f, const ParallelOptions& options = {}, SourceLine line = SourceLine::current()) const {
    static_assert(internal::is_map_function<const F&>,
                  "parallel_map: f runs on several threads at once; it must take a Datapoint and be callable as const "
                  "(no mutable lambda)");
    return parallel_map_of(MapFunction(std::move(f)), options, line);
  }
  // Reads ahead on a thread of its own.
  DataFlowRef prefetch(PrefetchOptions = {}, SourceLine = SourceLine::current()) const;

  // Stacks n datapoints along a new first axis.
  DataFlowRef batch(int64_t n, BatchOptions = {}, SourceLine = SourceLine::current()) const;
  // `times` passes back to back, -1: without end.
  DataFlowRef repeat(int64_t times = -1, SourceLine = SourceLine::current()) const;
  // The first n datapoints of a pass.
  DataFlowRef take(int64_t n, SourceLine = SourceLine::current()) const;
  // Exactly n datapoints each pass, however many the source has.
  DataFlowRef fixed_size(int64_t n, FixedSizeOptions = {}, SourceLine = SourceLine::current()) const;
  // Datapoints index, index + count, index + 2 count ...: the shards together are the whole, none twice.
  DataFlowRef shard(int64_t index, int64_t count, SourceLine = SourceLine::current()) const;
  // Keeps the datapoints of data pass 0 in memory and gives them in every pass.
  DataFlowRef cache(SourceLine = SourceLine::current()) const;
  // Goes on after a datapoint that the source cannot give. Needs random access; maps have an option of their own.
  DataFlowRef on_bad_sample(const BadSamples&, SourceLine = SourceLine::current()) const;
  // Logs the first datapoints.
  DataFlowRef print(const PrintOptions& = {}, SourceLine = SourceLine::current()) const;

  std::optional<int64_t> size() const;
  std::string description() const;

 private:
  DataFlowRef parallel_map_of(MapFunction f, const ParallelOptions& options, SourceLine line) const;
  DataFlowRef stateful_map_of(const std::shared_ptr<const internal::StatefulFunction>& f, const MapOptions& options,
                              SourceLine line) const;
};

}  // namespace martello
