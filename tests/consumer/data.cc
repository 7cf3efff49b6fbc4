#include <martello/data/combine.h>
#include <martello/data/sources.h>

#include <cstdio>

namespace mt = martello;

// Links martello::data and nothing of the graph.
int main() {
  auto numbers = mt::data::from_index(100, [](int64_t i, mt::Rng&) { return mt::Datapoint{i}; });
  auto flow = numbers.shuffle().parallel_map([](mt::Datapoint dp) { return dp; }, {.threads = 2}).batch(10).prefetch();
  int64_t sum = 0;
  auto iterator = flow->iterate({.seed = 1});
  while (auto dp = iterator->next())
    for (int64_t v : (*dp)[0].data<int64_t>()) sum += v;
  std::printf("%s: %ld\n", flow.description().c_str(), static_cast<long>(sum));
  return sum == 4950 ? 0 : 1;
}
