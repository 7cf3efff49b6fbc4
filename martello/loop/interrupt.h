#pragma once

namespace martello {

// While it lives, SIGINT, SIGTERM and SIGUSR1 ask training to end instead of killing the process: the step in progress
// is finished, a checkpoint saved, after_train runs, and the program may end with 130, 143 or 138. A second SIGINT
// kills at once, and so does the passing of `grace_seconds` after the first signal. SIGXFSZ does nothing: a write over
// the process's limit of file sizes fails like one to a full disk. Handlers that were there before come back with the
// last scope. Only launch functions open one; a library leaves signals alone.
class InterruptScope {
 public:
  [[nodiscard]] explicit InterruptScope(double grace_seconds = 30);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

// The signal that has arrived since a scope was opened; 0 when there is none, or no scope. Whatever waits asks now and
// then.
int interrupt_signal();
// As if the signal had arrived; nothing without a scope.
void request_interrupt(int signal);

}  // namespace martello
