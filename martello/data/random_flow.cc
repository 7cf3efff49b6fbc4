#include <martello/data/combine.h>
#include <martello/data/internal/random_flow.h>
#include <martello/data/internal/test_flow.h>

namespace martello::data::internal {
namespace {

constexpr size_t kMostDatapoints = 60;

int64_t digest(const Datapoint& dp) {
  int64_t hash = 17;
  for (const HostTensor& t : dp.components())
    for (int64_t i = 0; i < t.num_elements(); ++i) hash = (hash * 31 + static_cast<int64_t>(t.at(i))) % 1000003;
  return hash;
}

struct Sum {
  int64_t sum = 0;
  Datapoint operator()(const Datapoint& dp) { return Datapoint{sum = (sum * 7 + digest(dp)) % 1000003}; }
  void state(State& s) { s("sum", sum); }
};

class Builder {
 public:
  Builder(uint64_t seed, int threads) : rng_(seed), threads_(threads) {}

  DataFlowRef flow(int stages) {
    DataFlowRef flow = source();
    for (int i = 0; i < stages; ++i) flow = extended(flow, stages / 2);
    return flow;
  }

 private:
  // With one more stage, unless that leaves nothing, or too much.
  DataFlowRef extended(const DataFlowRef& flow, int depth) {
    try {
      const DataFlowRef next = stage(flow, depth);
      const size_t count = read(*next->iterate(kRandomFlowPass), kMostDatapoints + 1).size();
      return 0 < count && count <= kMostDatapoints ? next : flow;
    } catch (const InvalidArgument&) {  // a filter left nothing to repeat
      return flow;
    }
  }

  int64_t number(int64_t low, int64_t high) { return low + rng_.below(high - low + 1); }

  DataFlowRef source() {
    const int64_t n = number(1, 12), by = number(0, 1000);
    switch (number(0, 4)) {
      case 0: return from_index(n, [by](int64_t i, Rng& rng) { return Datapoint{i * by + rng.below(50)}; });
      case 1:
        return from_generator([n, by](Pass pass) -> Generator<Datapoint> {
          Rng rng = pass.rng();
          for (int64_t i = 0; i < n; ++i) co_yield Datapoint{i * by + rng.below(50)};
        });
      case 2: {
        List list;
        for (int64_t i = 0; i < n; ++i) list.push_back(Datapoint{i * by});
        return from_list(std::move(list));
      }
      case 3: {
        HostTensor array(Shape(n), i64);
        for (int64_t i = 0; i < n; ++i) array.set(i, static_cast<double>(i * by));
        return from_arrays({array});
      }
      default: return fake({{{}, i64, "x"}}, n, {.low = 0, .high = 1000});
    }
  }

  // One number for each datapoint again, so that any stage fits on any other.
  static DataFlowRef flat(const DataFlowRef& flow) {
    return flow.map([](const Datapoint& dp) { return Datapoint{digest(dp)}; });
  }

  DataFlowRef stage(const DataFlowRef& flow, int depth) {
    switch (number(0, 19)) {
      case 0: return flow->random_access(kRandomFlowPass) ? flow.shuffle() : flow.cache().shuffle();
      case 1: return flow.shuffle_locally(number(1, 9));
      case 2: return flow.map([](const Datapoint& dp, Rng& rng) { return Datapoint{digest(dp) + rng.below(100)}; });
      case 3: return flow.filter([k = number(2, 5)](const Datapoint& dp) { return digest(dp) % k != 0; });
      case 4: return flow.stateful_map(Sum());
      case 5:
      case 6: return parallel(flow);
      case 7: return flow.prefetch({.buffer_bytes = number(1, 5000)});
      case 8: return flat(flow.batch(number(1, 3), {.remainder = true}));
      case 9: return flow.repeat(number(1, 3));
      case 10: return flow.repeat().take(number(1, 40));
      case 11: return flow.take(number(1, 20));
      case 12: return flow.fixed_size(number(1, 20), {.keep_state = number(0, 1) == 0});
      case 13: return flow.shard(0, number(1, 3));
      case 14: return flow.cache();
      case 15: return concat({flow, this->flow(depth)});
      case 16: return flat(join({flow, this->flow(depth)}));
      case 17: return mixed(flow, this->flow(depth));
      case 18: return choose({{flow, 1}, {this->flow(depth), 2}});
      default: return tolerant(flow);
    }
  }

  DataFlowRef parallel(const DataFlowRef& flow) {
    const auto buffer = number(0, 1) == 0 ? number(1, 2000) : int64_t{1} << 20;
    const int threads = static_cast<int>(number(1, 4));
    return flow.parallel_map(
        [](const Datapoint& dp, Rng& rng) -> std::optional<Datapoint> {
          if (digest(dp) % 7 == 0) return std::nullopt;
          return Datapoint{digest(dp) * 2 + rng.below(10)};
        },
        {.threads = threads_ > 0 ? threads_ : threads, .buffer_bytes = buffer});
  }

  static DataFlowRef mixed(const DataFlowRef& a, const DataFlowRef& b) {
    return a.size() && b.size() ? mix({a, b}) : concat({b, a});
  }

  DataFlowRef tolerant(const DataFlowRef& flow) {
    const auto pick = [](const Datapoint& dp) {
      MARTELLO_CHECK(digest(dp) % 5 != 0, "[test] bad");
      return dp;
    };
    const BadSamples skip{.action = OnBadSample::skip, .most = 1};
    if (flow->random_access(kRandomFlowPass)) return flow.map(pick).on_bad_sample(skip);
    return flow.map(pick, {.bad_samples = skip});
  }

  Rng rng_;
  int threads_;
};

}  // namespace

DataFlowRef random_flow(uint64_t seed, int stages, int threads) { return Builder(seed, threads).flow(stages); }

}  // namespace martello::data::internal
