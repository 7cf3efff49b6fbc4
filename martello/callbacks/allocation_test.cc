// Hooks of every step allocate nothing.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/averaged_weights.h>
#include <martello/callbacks/process_tensors.h>
#include <martello/callbacks/progress_bar.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/scheduled_setter.h>
#include <martello/callbacks/start_thread.h>
#include <martello/callbacks/trackers.h>
#include <martello/runtime/internal/count_allocations.h>
#include <martello/train/internal/test_models.h>
#include <martello/train/single_cost_trainer.h>

namespace martello {
namespace {

using testing::kLineSignature;
using testing::line_cost;
using testing::LineInput;
using testing::Log;

// Counts the allocations of most steps of each epoch; the first ones may log. The last count stays.
struct Counter : Callback {
  void trigger_step() override {
    if (local_step() == 10) testing::start_counting_allocations();
    if (local_step() == 190) allocations = testing::stop_counting_allocations();
  }
  int64_t allocations = -1;
};

struct CallbackAllocationTest : ::testing::Test {
  Log log;
  int64_t allocations_with(const Ref<Callback>& callback) {
    const auto counter = make<Counter>();
    SimpleTrainer trainer;
    trainer.setup_graph(kLineSignature, LineInput(), line_cost,
                        [] { return GradientDescent(get_scalar_var("a_learning_rate_with_a_long_name", 0.01)); });
    EXPECT_EQ(trainer.train({.callbacks = {callback, counter}, .steps_per_epoch = 200, .max_epoch = 2}).reason,
              TrainEnd::finished);
    return counter->allocations;
  }
};

TEST_F(CallbackAllocationTest, of_each_is_none) {
  double sum = 0;
  for (const Ref<Callback>& c :
       CallbackList{ProgressBar({"cost"}), SessionRunTimeout(60000), ThroughputTracker(), EstimatedTimeLeft(),
                    CheckNumerics({.each_step = true}), AveragedWeights(),
                    ProcessTensors({"cost"}, [&](const HostTensors& v) { sum += v[0].at(0); }),
                    ScheduledHyperParamSetter("a_learning_rate_with_a_long_name", {{0, 0.01}, {400, 0.001}},
                                              {.interp = Interp::linear, .step_based = true}),
                    StartThread("worker", [](const StopFlag& stop) { stop.wait(60); })})
    EXPECT_EQ(allocations_with(c), 0) << c->name();
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace martello
