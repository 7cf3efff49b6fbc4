// The examples of docs/dataflow.md, each run once.
#include <martello/martello.h>

#include <cstdio>
#include <stdexcept>

namespace mt = martello;

namespace {

struct Squares : mt::IndexedFlow {
  int64_t count() const override { return 100; }
  mt::Datapoint get(int64_t i, mt::Rng& rng) const override { return {float(i * i) + float(rng.uniform()), i % 10}; }
};

struct Words : mt::GeneratorFlow {
  std::vector<std::string> words = {"one", "two", "three"};
  mt::Generator<mt::Datapoint> generate(mt::Pass) const override {
    for (const std::string& word : words) co_yield mt::Datapoint{int64_t(word.size())};
  }
};

struct Countdown : mt::DataFlow {
  struct Iterator : mt::DataIterator {
    int64_t left = 5;
    std::optional<mt::Datapoint> next() override {
      if (left == 0) return std::nullopt;
      return mt::Datapoint{left--};
    }
    void state(mt::State& s) override { s("left", left); }
  };
  std::unique_ptr<mt::DataIterator> iterate(mt::Pass) const override { return std::make_unique<Iterator>(); }
};

mt::DataFlowRef first_example() {
  mt::DataFlowRef squares = Squares();
  return squares.shuffle()
      .map([](mt::Datapoint dp) {
        dp[0] = dp[0].scalar<float>() / 100;
        return dp;
      })
      .batch(8)
      .prefetch();
}

mt::DataFlowRef lambda_example() {
  auto even = mt::data::from_index(50, [](int64_t i, mt::Rng&) { return mt::Datapoint{2 * i}; });
  int64_t limit = 7;
  auto few = mt::data::from_generator([limit](mt::Pass) -> mt::Generator<mt::Datapoint> {
    for (int64_t i = 0; i < limit; ++i) co_yield mt::Datapoint{i};
  });
  return mt::data::concat({even, few, mt::DataFlowRef(Words()), mt::DataFlowRef(Countdown())});
}

void loop_example(const mt::DataFlowRef& flow) {
  auto iterator = flow->iterate({.seed = 1, .number = 0});
  while (auto dp = iterator->next()) std::printf("%s\n", dp->signature().c_str());
}

mt::DataFlowRef keys_example() {
  auto flow = mt::data::from_index(20, [](int64_t i, mt::Rng&) {
    return mt::Datapoint().set("image", mt::HostTensor({28, 28}, mt::u8)).set("label", i % 10);
  });
  return flow.map_component("image", [](mt::HostTensor image) { return image.cast(mt::f32); })
      .select({"image", "label"});
}

mt::DataFlowRef random_example(const mt::DataFlowRef& flow) {
  return flow.map([](mt::Datapoint dp, mt::Rng& rng) {
    if (rng.uniform() < 0.5) dp[0] = -dp[0].scalar<float>();
    return dp;
  });
}

struct RunningMean {
  double sum = 0;
  int64_t count = 0;
  mt::Datapoint operator()(mt::Datapoint dp) {
    sum += dp[0].at(0);
    dp[0] = float(sum / double(++count));
    return dp;
  }
  void state(mt::State& s) { s("sum", sum), s("count", count); }
};

mt::DataFlowRef stateful_example(const mt::DataFlowRef& flow) { return flow.stateful_map(RunningMean()); }

mt::DataFlowRef parallel_example(const mt::DataFlowRef& flow) {
  auto decode = [](mt::Datapoint dp) {
    if (dp[1].scalar<int64_t>() == 7) throw std::runtime_error("not a jpeg");
    return dp;
  };
  return flow.parallel_map(
      decode, {.threads = 4, .name = "decode", .bad_samples = {.action = mt::OnBadSample::skip, .most = 0.2}});
}

void resume_example(const mt::DataFlowRef& flow) {
  auto iterator = flow->iterate({.seed = 1});
  iterator->skip(5);
  std::string position = mt::save_state(*iterator);

  auto later = flow->iterate({.seed = 1});
  mt::restore_state(*later, position);
  if (!later->next()->same_bits(*iterator->next())) throw std::logic_error("another datapoint");
}

void speed_example(const mt::DataFlowRef& flow) { mt::data::test_speed(flow, {.size = 1000, .warmup = 10}); }

}  // namespace

int main() {
  mt::logger::set_level(mt::logger::Level::error);
  mt::DataFlowRef squares = Squares();
  loop_example(first_example());
  loop_example(lambda_example().batch(10));
  loop_example(keys_example().batch(5));
  resume_example(first_example());
  resume_example(random_example(squares).shuffle_locally(10));
  resume_example(stateful_example(squares));
  resume_example(parallel_example(squares));
  speed_example(parallel_example(squares));
}
