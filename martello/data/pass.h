#pragma once
#include <martello/data/interrupt.h>
#include <martello/data/rng.h>
#include <martello/data/stage_times.h>

#include <memory>

namespace martello {

// One pass over a flow: which one, and with which seed. All randomness comes from here, so that a pass can be made
// again. Stages that draw random numbers, and the branches of join, mix and the like, tell theirs apart by `stage`;
// stages that do not (batch, prefetch, cache ...) hand the pass on as it is, so that adding one changes no number.
struct Pass {
  uint64_t seed = 0;
  int64_t number = 0;
  uint64_t stage = 0;
  std::shared_ptr<Interrupt> interrupt = {};
  std::shared_ptr<StageTimes> stage_times = {};  // where the time goes is written there

  // The numbers of this stage in this pass. For those of a datapoint `stream` is its ordinal.
  Rng rng(uint64_t stream = 0) const { return Rng(key(), stream); }
  uint64_t key() const;
  // What the source of a stage gets; branches are told apart.
  Pass below(uint64_t branch = 0) const;
  Pass with_number(int64_t data_pass) const;
  Pass with_interrupt(std::shared_ptr<Interrupt> other) const;
  // The pass of repetition `i` among `times` (-1: without end), so that no two passes of a repeated flow are equal.
  Pass repetition(int64_t i, int64_t times) const;

  // A source that waits or reads for long asks between its parts.
  bool is_interrupted() const { return interrupt != nullptr && interrupt->is_raised(); }
};

}  // namespace martello
