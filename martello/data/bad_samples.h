#pragma once
#include <martello/base/owned.h>
#include <martello/data/datapoint.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

enum class OnBadSample { stop, skip, replace };
std::string_view to_string(OnBadSample action);

struct BadSample {
  int64_t pass = 0, ordinal = 0;  // which data pass, and which datapoint that the stage took in it
  std::string cause;
};

// The samples that were skipped or replaced, each once, in order. Thread-safe.
class BadSampleList {
 public:
  BadSampleList();
  ~BadSampleList();
  void add(BadSample sample);
  std::vector<BadSample> samples() const;

 private:
  struct Samples;
  Owned<Samples> samples_;
};

// What happens when a function fails for a datapoint. Skipped and replaced ones are logged, and `most` is a cap: when a
// greater share of the source (where its size is not known, of what was read so far) is bad, the flow stops.
struct BadSamples {
  OnBadSample action = OnBadSample::stop;
  double most = 0.001;
  std::shared_ptr<BadSampleList> list = {};
  Datapoint replacement = {};
};

}  // namespace martello
