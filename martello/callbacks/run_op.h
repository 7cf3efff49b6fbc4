#pragma once
#include <martello/loop/callback.h>

#include <functional>
#include <string>

namespace martello {

struct RunOpOptions {
  bool before = true;      // in before_train
  bool as_trigger = true;  // on every trigger
  bool each_step = false;  // along with every hooked run
  bool verbose = false;    // the log says so, but for each_step
};
// Runs an operation, by itself unless it comes with the step. A function makes it in setup_graph, when the model
// exists; a name finds one that exists.
//   RunOp([] { return assign(get_scalar_var("v", 0), 1); }, {.before = false})
class RunOp : public Callback {
 public:
  explicit RunOp(std::function<Operation()> make_op, RunOpOptions options = {});
  explicit RunOp(Operation op, RunOpOptions options = {});
  explicit RunOp(std::string operation, RunOpOptions options = {}, SourceLine line = SourceLine::current());
  explicit RunOp(const char* operation, RunOpOptions options = {}, SourceLine line = SourceLine::current())
      : RunOp(std::string(operation), options, line) {}
  void setup_graph() override;
  void before_train() override;
  void before_run(RunContext& run) override;
  void trigger() override;
  std::string name() const override { return "RunOp"; }
  std::string description() const override;

 private:
  void run();

  std::function<Operation()> make_op_;
  std::string operation_;
  SourceLine line_;
  RunOpOptions options_;
  Operation op_;
};

struct CheckNumericsOptions {
  bool as_trigger = true;
  bool each_step = false;  // with every hooked run: it sees what the step before wrote
};
// Fails when a trainable variable holds NaN or an infinity, with the variable's name; also before training.
class CheckNumerics : public RunOp {
 public:
  explicit CheckNumerics(CheckNumericsOptions options = {});
  std::string name() const override { return "CheckNumerics"; }
};

// Ends a run that takes longer as an error. Where several ask for it the longest time holds.
class SessionRunTimeout : public Callback {
 public:
  explicit SessionRunTimeout(double milliseconds);
  void before_run(RunContext& run) override { run.timeout_seconds(seconds_); }
  std::string name() const override { return "SessionRunTimeout"; }

 private:
  double seconds_;
};

}  // namespace martello
