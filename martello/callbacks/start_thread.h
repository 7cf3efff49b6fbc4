#pragma once
#include <martello/loop/callback.h>

#include <functional>
#include <memory>
#include <string>

namespace martello {

// What a thread of StartThread looks at to learn that training is over.
class StopFlag {
 public:
  bool is_set() const;
  // Sleeps, but not beyond the end of training; whether it is over.
  bool wait(double seconds) const;

 private:
  friend class StartThread;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

struct StartThreadOptions {
  bool stop_at_last = true;  // in after_train: tells the thread, and waits for it
  double wait_seconds = 5;   // then the log says that it still runs, and it is left to itself
};
// A thread of the user's beside training, from before_train on. Signals go to other threads. An error in it ends
// training as a failure after the step in progress.
//   StartThread("simulator", [queue](const StopFlag& stop) { while (!stop.is_set()) queue->push(simulate()); })
class StartThread : public Callback {
 public:
  using Body = std::function<void(const StopFlag& stop)>;
  StartThread(std::string thread_name, Body body, StartThreadOptions options = {});
  StartThread(StartThread&&) noexcept = default;
  ~StartThread() override;
  void before_train() override;
  void trigger_step() override { check(); }
  void trigger_epoch() override { check(); }
  void after_train() override;
  std::string name() const override { return "StartThread"; }
  std::string description() const override { return str(name(), "(", thread_name_, ")"); }

 private:
  void check() const;
  void stop();

  std::string thread_name_;
  Body body_;
  StartThreadOptions options_;
  StopFlag flag_;
};

}  // namespace martello
