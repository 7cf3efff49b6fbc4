#pragma once
#include <martello/loop/callback.h>

namespace martello {

struct GraphProfilerOptions {
  bool dump_tracing = true;  // `chrome-trace-<global_step>.json`, for chrome://tracing and ui.perfetto.dev
  bool dump_table = false;   // `op-times-<global_step>.txt`: calls and time of every op
  bool dump_event = false;   // the table to the monitors, as text `trace-<global_step>`
};
// Times every kernel of every hooked run and writes that into the logger's directory. It costs time and space: wrap it.
//   PeriodicCallback(GraphProfiler(), {.steps = 1000})
class GraphProfiler : public Callback {
 public:
  explicit GraphProfiler(GraphProfilerOptions options = {});
  void setup_graph() override;
  void before_run(RunContext& run) override { run.trace(); }
  void after_run(RunContext& run) override;
  std::string name() const override { return "GraphProfiler"; }

 private:
  GraphProfilerOptions options_;
  std::string dir_;
};

}  // namespace martello
