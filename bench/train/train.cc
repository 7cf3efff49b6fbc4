#include "train.h"

#include "../timing.h"

#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

void time_work(const std::string& name, int threads) {
  mt::GraphScope g;
  const Work w = build_work(name);
  mt::Session session(g.graph(), {.threads = threads});
  auto step = session.prepare(w.train, {w.x, w.label});
  step.feed(0, w.x_value);
  step.feed(1, w.label_value);
  const double seconds = median_of_blocks([&] { step.run(); }, w.warm, w.steps);
  std::printf("{\"peer\": \"martello\", \"device\": \"cpu\", \"work\": \"%s\", \"variant\": \"session\", \"batch\": %ld, "
              "\"ms\": %.4f, \"per_s\": %.1f}\n",
              name.c_str(), static_cast<long>(w.batch), seconds * 1e3, static_cast<double>(w.batch) / seconds);
  std::fflush(stdout);
}

}  // namespace

int time_training(const std::vector<std::string>& names, int threads) {
  for (const std::string& name : names.empty() ? work_names() : names) time_work(name, threads);
  return 0;
}

}  // namespace bench
