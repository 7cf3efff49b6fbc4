#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/data/speed.h>

#include <time.h>

#include <cstdio>

namespace martello::data {
namespace {

double now_seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::string Speed::str() const {
  char text[160];
  std::snprintf(text, sizeof text, "%lld datapoints in %.3g s: %.0f datapoints/s, %.1f MB/s",
                static_cast<long long>(datapoints), seconds, per_second(),
                seconds > 0 ? 1e-6 * static_cast<double>(bytes) / seconds : 0.);
  return text;
}

Speed test_speed(const DataFlowRef& flow, SpeedOptions options) {
  MARTELLO_CHECK(flow, "[test_speed] a DataFlowRef that holds no flow.");
  MARTELLO_CHECK(options.size >= 1 && options.warmup >= 0, "[test_speed] reads ", options.size, " datapoints after ",
                 options.warmup, "; it must read one or more, after none or more.");
  const auto iterator = flow->iterate({});
  for (int64_t i = 0; i < options.warmup; ++i)
    if (!iterator->next()) break;
  Speed speed;
  const double start = now_seconds();
  while (speed.datapoints < options.size) {
    const std::optional<Datapoint> dp = iterator->next();
    if (!dp) break;
    ++speed.datapoints;
    speed.bytes += dp->num_bytes();
  }
  speed.seconds = now_seconds() - start;
  logger::info("[test_speed] ", flow.description(), ": ", speed);
  return speed;
}

}  // namespace martello::data
