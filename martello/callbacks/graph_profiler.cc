#include <martello/callbacks/graph_profiler.h>

#include <martello/base/error.h>
#include <martello/callbacks/internal/files.h>
#include <martello/loop/monitors.h>

namespace martello {

GraphProfiler::GraphProfiler(GraphProfilerOptions options) : options_(options) {
  MARTELLO_CHECK(options.dump_tracing || options.dump_table || options.dump_event,
                 "[GraphProfiler] .dump_tracing, .dump_table and .dump_event are all off: it would time for nothing.");
}

void GraphProfiler::setup_graph() {
  if (options_.dump_tracing || options_.dump_table) dir_ = internal::dir_for(name());
}

void GraphProfiler::after_run(RunContext& run) {
  const RunTrace& trace = run.run_trace();
  const int64_t step = global_step();
  if (options_.dump_tracing) internal::write_file(str(dir_, "/chrome-trace-", step, ".json"), trace.chrome_json());
  if (options_.dump_table) internal::write_file(str(dir_, "/op-times-", step, ".txt"), trace.table());
  if (options_.dump_event) monitors().put_text(str("trace-", step), trace.table());
}

}  // namespace martello
