#include "train.h"

#include "../memory.h"
#include "../timing.h"

#include <cstdio>

namespace mt = martello;

namespace bench {
namespace {

// What the planner says that the step needs, its variables included.
double planned_mb(mt::Session& session, const Work& w) {
  const auto plan = session.memory_plan(w.train, {{w.x, w.x_value}, {w.label, w.label_value}});
  int64_t bytes = 0;
  for (const mt::DeviceMemory& d : plan.devices)
    bytes += d.arena_bytes + d.variable_bytes + d.derived_bytes + d.constant_bytes;
  return static_cast<double>(bytes) / (1024 * 1024);
}

void time_work(const std::string& name, const mt::SessionOptions& options, double base_mb) {
  reset_peak();
  mt::GraphScope g;
  const Work w = build_work(name);
  mt::Session session(g.graph(), options);
  auto step = session.prepare(w.train, {w.x, w.label});
  step.feed(0, w.x_value);
  step.feed(1, w.label_value);
  const double seconds = median_of_blocks([&] { step.run(); }, w.warm, w.steps);
  const double peak = peak_mb();  // before the planner is asked again
  std::printf(
      "{\"peer\": \"martello\", \"device\": \"cpu\", \"work\": \"%s\", \"variant\": \"%s\", \"batch\": %ld, "
      "\"ms\": %.4f, \"per_s\": %.1f, \"base_mb\": %.1f, \"peak_mb\": %.1f, \"planned_mb\": %.1f}\n",
      name.c_str(), options.precision == mt::Precision::bf16 ? "session bf16" : "session", static_cast<long>(w.batch),
      seconds * 1e3, static_cast<double>(w.batch) / seconds, base_mb, peak, planned_mb(session, w));
  std::fflush(stdout);
}

}  // namespace

int time_training(const std::vector<std::string>& names, const mt::SessionOptions& options) {
  const double base_mb = resident_mb();
  for (const std::string& name : names.empty() ? work_names() : names) time_work(name, options, base_mb);
  return 0;
}

}  // namespace bench
