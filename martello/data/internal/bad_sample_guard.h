#pragma once
#include <martello/base/state.h>
#include <martello/data/bad_samples.h>

#include <exception>

namespace martello::data::internal {

void check_bad_samples(const BadSamples& options, const std::string& stage);
std::string description_of(const BadSamples& options);  // "" for the default

// Decides what becomes of a datapoint that failed. What it decides depends on the data alone: the count is part of the
// position, and failures are told to it in order.
class BadSampleGuard {
 public:
  BadSampleGuard(BadSamples options, std::string stage, std::optional<int64_t> size, int64_t pass);
  bool stops() const { return options_.action == OnBadSample::stop; }
  // The replacement, or none to skip it; throws when the flow stops.
  std::optional<Datapoint> handle(int64_t ordinal, const std::exception_ptr& error);
  void state(State& s) { s("bad", bad_); }

 private:
  BadSamples options_;
  std::string stage_;
  std::optional<int64_t> size_;
  int64_t pass_;
  int64_t bad_ = 0;
};

}  // namespace martello::data::internal
