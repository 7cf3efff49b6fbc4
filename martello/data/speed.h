#pragma once
#include <martello/data/dataflow.h>

#include <string>

namespace martello::data {

struct SpeedOptions {
  int64_t size = 5000;  // datapoints at most
  int64_t warmup = 0;   // datapoints before the clock starts
};

struct Speed {
  int64_t datapoints = 0, bytes = 0;
  double seconds = 0;
  double per_second() const { return seconds > 0 ? static_cast<double>(datapoints) / seconds : 0; }
  std::string str() const;  // "5000 datapoints in 1.2 s: 4166 datapoints/s, 12.5 MB/s"
};
// Reads data pass 0 and logs how fast it was.
Speed test_speed(const DataFlowRef& flow, SpeedOptions options = {});

}  // namespace martello::data
