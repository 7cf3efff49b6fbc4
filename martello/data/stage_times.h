#pragma once
#include <martello/base/owned.h>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

// How long the threads that read a flow were busy in each of its stages, without the stages below and without waiting.
// Who iterates puts one into the Pass. Datapoints are timed now and then, and the times scaled up. Thread-safe.
class StageTimes {
 public:
  struct Entry {
    std::string stage;  // "map 'decode' (train.cc:12)"
    double seconds = 0;
    int threads = 1;  // that share the work
  };

  StageTimes();
  ~StageTimes();
  void add(std::string_view stage, double seconds, int threads = 1);
  // What was added since the last call, in order of appearance.
  std::vector<Entry> take();

 private:
  struct Entries;
  Owned<Entries> entries_;
};

// The stage that limits the flow: the one whose threads were busy longest. "" when there is none.
std::string slowest_stage(const std::vector<StageTimes::Entry>& entries);

}  // namespace martello
