#include "train.h"

#include "../timing.h"

#include <algorithm>
#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

void time_work(const std::string& name, const mt::SessionOptions& options) {
  mt::GraphScope g;
  const Work w = build_work(name);
  mt::Session session(g.graph(), options);
  auto step = session.prepare(w.train, {w.x, w.label});
  step.feed(0, w.x_value);
  step.feed(1, w.label_value);
  const double seconds = median_of_blocks([&] { step.run(); }, w.warm, w.steps);
  std::printf(
      "{\"peer\": \"martello\", \"device\": \"cpu\", \"work\": \"%s\", \"variant\": \"%s\", \"batch\": %ld, "
      "\"ms\": %.4f, \"per_s\": %.1f}\n",
      name.c_str(), options.precision == mt::Precision::bf16 ? "session bf16" : "session", static_cast<long>(w.batch),
      seconds * 1e3, static_cast<double>(w.batch) / seconds);
  std::fflush(stdout);
}

// Where the time of a step goes: the best of many runs of every node.
void trace_work(const std::string& name, const mt::SessionOptions& options) {
  mt::GraphScope g;
  const Work w = build_work(name);
  mt::Session session(g.graph(), options);
  const mt::Feeds feeds = {{w.x, w.x_value}, {w.label, w.label_value}};
  mt::RunTrace best;
  for (int i = 0; i < std::min(200, w.steps); ++i) {
    mt::RunTrace trace;
    session.run_traced(w.train, feeds, trace);
    if (best.events.empty()) best = trace;
    for (size_t e = 0; e < trace.events.size(); ++e)
      best.events[e].duration_us = std::min(best.events[e].duration_us, trace.events[e].duration_us);
  }
  double total = 0;
  const auto report = session.plan_report(w.train, feeds);
  for (size_t e = 0; e < best.events.size(); ++e) {
    total += best.events[e].duration_us;
    std::printf("%9.2f us  %-32s %s\n", best.events[e].duration_us, best.events[e].op.c_str(),
                report.implementations[e].c_str());
  }
  std::printf("%9.2f us  %s, %d threads\n", total, name.c_str(), options.threads);
}

}  // namespace

int trace_training(const std::vector<std::string>& names, mt::SessionOptions options) {
  if (options.threads <= 0) options.threads = mt::default_threads();
  for (const std::string& name : names.empty() ? work_names() : names) trace_work(name, options);
  return 0;
}

int time_training(const std::vector<std::string>& names, const mt::SessionOptions& options) {
  for (const std::string& name : names.empty() ? work_names() : names) time_work(name, options);
  return 0;
}

}  // namespace bench
