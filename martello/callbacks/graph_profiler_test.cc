#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/graph_profiler.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/wrappers.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/matmul.h>
#include <martello/ops/variable.h>

#include <nlohmann/json.hpp>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;

struct GraphProfilerTest : ::testing::Test {
  Log log;
  TestDir dir;
  GraphScope g;
  Tensor x = get_variable("x", {.shape = Shape(16, 16)});
  Tensor y = matmul(x, x, {}, "product");
  GraphProfilerTest() { logger::set_logger_dir(dir.path(), logger::OldRun::keep); }
  RunOp step() const { return RunOp(y.op(), {.before = false, .as_trigger = false, .each_step = true}); }
};

TEST_F(GraphProfilerTest, writes_a_chrome_trace_of_a_run) {
  FakeTraining t({}, {step(), GraphProfiler()});
  t.start();
  t.epoch(2);
  const auto json = nlohmann::json::parse(dir.read("chrome-trace-2.json"));
  bool has_product = false;
  for (const auto& event : json["traceEvents"])
    has_product = has_product || (event["name"].get<std::string>().find("product") != std::string::npos &&
                                  event["dur"].get<double>() >= 0);
  EXPECT_TRUE(has_product) << json;
  EXPECT_EQ(dir.list("op-times-").size(), 0u);
}

struct Texts : Monitor {
  void process_text(std::string_view name, std::string_view text) override { seen.push_back(str(name, "\n", text)); }
  std::vector<std::string> seen;
};

TEST_F(GraphProfilerTest, writes_a_table_and_tells_the_monitors) {
  const auto texts = make<Texts>();
  FakeTraining t({texts}, {step(), GraphProfiler({.dump_tracing = false, .dump_table = true, .dump_event = true})});
  t.start();
  t.epoch(1);
  EXPECT_CONTAINS(dir.read("op-times-1.txt"), "matmul");
  ASSERT_EQ(texts->seen.size(), 1u);
  EXPECT_EQ(texts->seen[0], "trace-1\n" + dir.read("op-times-1.txt"));
  EXPECT_TRUE(dir.list("chrome-trace-").empty());
}

TEST_F(GraphProfilerTest, only_traced_runs_cost_anything) {
  FakeTraining t({}, {step(), PeriodicCallback(GraphProfiler(), {.steps = 3})});
  t.start();
  t.epoch(7);
  // Asked before the run, when global_step is 0, 3 and 6.
  EXPECT_EQ(dir.list("chrome-trace-"),
            (std::vector<std::string>{"chrome-trace-1.json", "chrome-trace-4.json", "chrome-trace-7.json"}));
}

TEST_F(GraphProfilerTest, needs_something_to_do_and_a_place) {
  EXPECT_CONTAINS(error_of([] { GraphProfiler({.dump_tracing = false}); }), "all off");
  logger::close_logger_dir();
  EXPECT_CONTAINS(error_of([] { FakeTraining({}, {GraphProfiler()}); }), "[GraphProfiler] writes into");
  EXPECT_NO_THROW(FakeTraining({}, {GraphProfiler({.dump_tracing = false, .dump_event = true})}));
}

}  // namespace
}  // namespace martello
