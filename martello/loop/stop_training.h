#pragma once
#include <martello/base/error.h>

namespace martello {

// Thrown in any hook of a callback or in run_step(): training ends there, as a success. The other callbacks still have
// their turn of the same hook; docs/trainer-ends.md says what else runs.
//   if (loss < 1e-6) throw StopTraining("converged");
class StopTraining : public Error {
 public:
  using Error::Error;
};

// Thrown in a turn that was given up because a signal has come (interrupt_signal()), without a trace: the phase ends,
// and a resumed run gives the callback its turn again.
class CancelledTurn : public Error {
 public:
  using Error::Error;
};

}  // namespace martello
