#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace martello {

// How training ended. Converts to the exit code of a program: 0 finished or stopped, 3 the same but a checkpoint could
// not be saved, 1 failed, 130 SIGINT, 143 SIGTERM, 138 SIGUSR1 (the last three: saved, start the program again to go
// on).
//   int main() { return launch_train_with_config(config, SimpleTrainer()); }
struct [[nodiscard]] TrainEnd {
  enum class Reason : uint8_t {
    finished,     // all epochs
    stopped,      // StopTraining, or a hook's request_stop()
    interrupted,  // a signal
    failed        // an error, which is carried along
  };
  using enum Reason;

  Reason reason = Reason::finished;
  std::string message = {};       // why
  int signal = 0;                 // of an interruption
  std::exception_ptr error = {};  // of a failure
  int64_t failed_saves = 0;       // checkpoints that could not be written
  operator int() const;
  bool is_success() const { return reason == finished || reason == stopped; }
  // Throws the error of a failure; otherwise nothing happens.
  void rethrow() const;
  std::string str() const;  // "stopped: converged"
};
std::string_view to_string(TrainEnd::Reason reason);

}  // namespace martello
