#include <martello/callbacks/monitors/scalar_printer.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/callbacks/progress_bar.h>
#include <martello/callbacks/run_update_ops.h>
#include <martello/callbacks/summaries.h>
#include <martello/train/train_config.h>

namespace martello {

CallbackList default_callbacks() {
  return {MovingAverageSummary(), ProgressBar(), MergeAllSummaries(), RunUpdateOps()};
}
std::vector<Ref<Monitor>> default_monitors() { return {TFEventWriter(), JSONWriter(), ScalarPrinter()}; }

}  // namespace martello
