// What a resumed run is refused for: options that decide what training does, and no others.
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/averaged_weights.h>
#include <martello/callbacks/best_saver.h>
#include <martello/callbacks/dump_tensors.h>
#include <martello/callbacks/early_stopping.h>
#include <martello/callbacks/graph_profiler.h>
#include <martello/callbacks/human_setter.h>
#include <martello/callbacks/inference/inference_runner.h>
#include <martello/callbacks/inference/inferencers.h>
#include <martello/callbacks/lr_finder.h>
#include <martello/callbacks/model_saver.h>
#include <martello/callbacks/progress_bar.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/scheduled_setter.h>
#include <martello/callbacks/summaries.h>
#include <martello/data/sources.h>
#include <martello/input/feed_input.h>
#include <martello/train/internal/fingerprint.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using Callbacks = std::pair<Ref<Callback>, Ref<Callback>>;

DataFlowRef points(int64_t n) { return data::fake({{{1}, f32, "x"}}, n); }

double halve(double old) { return old / 2; }
std::optional<double> keep(int64_t, double old) { return old; }
Operation nothing() { return Operation(); }

TEST(description, has_every_option_that_decides) {
  const std::vector<Callbacks> different = {
      {EarlyStopping("cost"), EarlyStopping("error")},
      {EarlyStopping("cost"), EarlyStopping("cost", {.patience = 4})},
      {EarlyStopping("cost"), EarlyStopping("cost", {.threshold = 1e-9})},
      {EarlyStopping("cost"), EarlyStopping("cost", {.reverse = true})},
      {StatMonitorParamSetter("lr", "cost", halve), StatMonitorParamSetter("beta", "cost", halve)},
      {StatMonitorParamSetter("lr", "cost", halve), StatMonitorParamSetter("lr", "error", halve)},
      {StatMonitorParamSetter("lr", "cost", halve), StatMonitorParamSetter("lr", "cost", halve, {.threshold = 1})},
      {StatMonitorParamSetter("lr", "cost", halve), StatMonitorParamSetter("lr", "cost", halve, {.last_k = 4})},
      {StatMonitorParamSetter("lr", "cost", halve), StatMonitorParamSetter("lr", "cost", halve, {.reverse = true})},
      {HyperParamSetterWithFunc("lr", keep), HyperParamSetterWithFunc("beta", keep)},
      {HumanHyperParamSetter("lr"), HumanHyperParamSetter("lr", "other.txt")},
      {ScheduledHyperParamSetter("lr", {{1, 2}}), ScheduledHyperParamSetter("lr", {{1, 3}})},
      {ScheduledHyperParamSetter("lr", {{1, 2}}),
       ScheduledHyperParamSetter("lr", {{1, 2}}, {.set_at_beginning = false})},
      {LearningRateFinder("lr", "cost"), LearningRateFinder("lr", "cost", {.steps = 50})},
      {PeriodicTrigger(CheckNumerics(), {.steps = 2}), PeriodicTrigger(CheckNumerics(), {.steps = 3})},
      {PeriodicTrigger(EarlyStopping("cost"), {.steps = 2}), PeriodicTrigger(EarlyStopping("error"), {.steps = 2})},
      {PeriodicCallback(CheckNumerics(), {.steps = 2}), PeriodicCallback(CheckNumerics(), {.steps = 3})},
      {CallbackFactory({.needs = {"cost"}}), CallbackFactory({.needs = {"error"}})},
      {AveragedWeights(), AveragedWeights({.decay = 0.9})},
      {RunOp(nothing), RunOp(nothing, {.before = false})},
      {RunOp("one"), RunOp("other")},
      {CheckNumerics(), CheckNumerics({.each_step = true})},
      {MergeAllSummaries(), MergeAllSummaries({.period = 10})},
      {MergeAllSummaries(), MergeAllSummaries({.run_alone = true})},
      {MovingAverageSummary(), MovingAverageSummary({.train_op = "train"})},
      {SimpleMovingAverage({"cost"}, 10), SimpleMovingAverage({"cost"}, 20)},
      {ProcessTensors({"cost"}, [](const HostTensors&) {}), ProcessTensors({"error"}, [](const HostTensors&) {})},
      {InferenceRunner(points(3), {ScalarStats({"cost"})}), InferenceRunner(points(4), {ScalarStats({"cost"})})},
      {InferenceRunner(points(3), {ScalarStats({"cost"})}), InferenceRunner(points(3), {ScalarStats({"error"})})},
      {InferenceRunner(points(3), {ScalarStats({"cost"})}), InferenceRunner(points(3), {Perplexity("cost")})},
      {InferenceRunner(points(3), {ScalarStats({"cost"})}),
       InferenceRunner(points(3), {ScalarStats({"cost"})}, {.prefix = "test"})},
      {InferenceRunner(FeedInput(points(3)), {ScalarStats({"cost"})}),
       InferenceRunner(FeedInput(points(3), {.seed = 1}), {ScalarStats({"cost"})})}};
  for (const auto& [one, other] : different) EXPECT_NE(one->description(), other->description());
}

TEST(description, leaves_out_what_only_shows_or_writes) {
  const std::vector<Callbacks> same = {{ModelSaver(), ModelSaver({.max_to_keep = 3})},
                                       {PeriodicTrigger(ModelSaver(), {.steps = 2}), ModelSaver()},
                                       {MinSaver("cost"), MinSaver("error")},
                                       {ProgressBar(), ProgressBar({"cost"})},
                                       {TensorPrinter({"cost"}), TensorPrinter({"error"})},
                                       {DumpTensors({"cost"}), DumpTensors({"error"})},
                                       {SessionRunTimeout(1000), SessionRunTimeout(2000)},
                                       {RunOp("one"), RunOp("one", {.verbose = true})},
                                       {GraphProfiler(), GraphProfiler({.dump_table = true})}};
  for (const auto& [one, other] : same) EXPECT_EQ(one->description(), other->description());
}

TEST(description, of_a_validation_names_its_data_and_inferencers) {
  EXPECT_EQ(InferenceRunner(points(3).batch(2), {ScalarStats({"cost"})}).description(),
            str("InferenceRunner(FeedInput(", points(3).batch(2).description(),
                ", seed=0, infinite=false), ScalarStats(cost -> validation_cost), device=0, prefix=)"));
}

TEST(description, that_differs_is_refused) {
  FingerprintParts was, is;
  was.callbacks = {EarlyStopping("cost")};
  is.callbacks = {EarlyStopping("cost", {.patience = 9})};
  const std::string text =
      error_of<FailedPrecondition>([&] { compare_fingerprints(fingerprint_of(was), fingerprint_of(is), {}, ""); });
  EXPECT_CONTAINS(text, "- EarlyStopping(cost, patience=3, threshold=0, reverse=false)");
  EXPECT_CONTAINS(text, "+ EarlyStopping(cost, patience=9, threshold=0, reverse=false)");
}

}  // namespace
}  // namespace martello
