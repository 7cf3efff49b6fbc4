#include <martello/base/internal/test_text.h>
#include <martello/callbacks/run_op.h>
#include <martello/callbacks/wrappers.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/matmul.h>
#include <martello/ops/variable.h>

#include <limits>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;

struct RunOpTest : ::testing::Test {
  GraphScope g;
  Log log;
  Variable v = get_scalar_var("v", 0);
  std::function<Operation()> increment = [this] { return assign_add(v, 1, "increment"); };

  // After before_train, one epoch of three steps, and another.
  std::vector<double> values(RunOpOptions options) {
    FakeTraining t({}, {RunOp(increment, options)});
    std::vector<double> seen;
    t.start();
    seen.push_back(t.sess().get(v).at(0));
    for (int i = 0; i < 2; ++i) {
      t.epoch(3);
      seen.push_back(t.sess().get(v).at(0));
    }
    return seen;
  }
};

TEST_F(RunOpTest, runs_before_training_and_on_triggers) { EXPECT_EQ(values({}), (std::vector<double>{1, 2, 3})); }
TEST_F(RunOpTest, runs_on_triggers_only) { EXPECT_EQ(values({.before = false}), (std::vector<double>{0, 1, 2})); }
TEST_F(RunOpTest, runs_before_training_only) {
  EXPECT_EQ(values({.as_trigger = false}), (std::vector<double>{1, 1, 1}));
}
TEST_F(RunOpTest, runs_with_every_step) {
  EXPECT_EQ(values({.before = false, .as_trigger = false, .each_step = true}), (std::vector<double>{0, 3, 6}));
}

TEST_F(RunOpTest, says_what_it_runs_when_asked) {
  values({.verbose = true});
  EXPECT_EQ(log.lines[0], "[RunOp] runs 'RunOp/increment'.");
  EXPECT_EQ(log.lines.size(), 3u);
}

TEST_F(RunOpTest, takes_an_operation_or_its_name) {
  const Operation op = increment();
  FakeTraining t({}, {RunOp(op), RunOp("increment")});
  t.start();
  EXPECT_EQ(t.sess().get(v).at(0), 2);
  EXPECT_CONTAINS(error_of([&] { FakeTraining({}, {RunOp("incremen")}); }), "Did you mean 'increment'?");
}

TEST_F(RunOpTest, refuses_what_never_runs) {
  EXPECT_CONTAINS(error_of([&] { RunOp(increment, {.before = false, .as_trigger = false}); }), "never applies");
  EXPECT_CONTAINS(error_of([&] { RunOp{Operation()}; }), "null operation");
  EXPECT_CONTAINS(error_of([&] { RunOp(std::function<Operation()>()); }), "is empty");
  EXPECT_CONTAINS(error_of([&] { FakeTraining({}, {RunOp([] { return Operation(); })}); }), "null operation");
  const Graph other;
  const Operation elsewhere = [&] {
    const GraphScope scope(other);
    return group({}, "other");
  }();
  EXPECT_CONTAINS(error_of([&] { FakeTraining({}, {RunOp(elsewhere)}); }), "another graph");
}

TEST_F(RunOpTest, runs_on_every_process) {
  EXPECT_FALSE(RunOp(increment).chief_only());
  EXPECT_TRUE(CheckNumerics().chief_only());
}

struct CheckNumericsCallbackTest : ::testing::Test {
  GraphScope g;
  Log log;
  Variable w = get_variable("layer/w", {.shape = Shape(2), .initializer = zeros()});
  Variable counter = get_variable("counter", {.dtype = i64, .trainable = false});
  HostTensor bad = HostTensor::of<float>({1, std::numeric_limits<float>::quiet_NaN()});
};

TEST_F(CheckNumericsCallbackTest, passes_numbers) {
  FakeTraining t({}, {CheckNumerics({.each_step = true})});
  t.start();
  EXPECT_NO_THROW(t.epoch(2));
}

TEST_F(CheckNumericsCallbackTest, names_the_variable_on_a_trigger) {
  FakeTraining t({}, {CheckNumerics()});
  t.start();
  const std::string text = error_of([&] { t.epoch(1, [&] { t.sess().set(w, bad); }); });
  for (const char* part : {"CheckNumerics['layer/w']", "NaN", "trigger_epoch of callback 'CheckNumerics'"})
    EXPECT_CONTAINS(text, part);
}

TEST_F(CheckNumericsCallbackTest, names_the_variable_in_the_step) {
  FakeTraining t({}, {CheckNumerics({.as_trigger = false, .each_step = true})});
  t.start();
  int64_t steps = 0;
  const std::string text = error_of([&] {
    t.epoch(3, [&] {
      ++steps;
      t.sess().set(w, bad);
    });
  });
  EXPECT_EQ(steps, 1);
  EXPECT_CONTAINS(text, "CheckNumerics['layer/w']");
}

TEST_F(CheckNumericsCallbackTest, looks_before_training) {
  struct Spoil : Callback {
    explicit Spoil(HostTensor v) : value(std::move(v)) {}
    void before_train() override { sess().set("layer/w", value); }
    HostTensor value;
  };
  FakeTraining t({}, {Spoil(bad), CheckNumerics()});
  EXPECT_CONTAINS(error_of([&] { t.start(); }), "layer/w");
}

TEST(session_run_timeout, ends_a_run_that_takes_too_long) {
  const GraphScope g;
  const Log log;
  Tensor x = get_variable("x", {.shape = Shape(1024, 1024)});
  for (int i = 0; i < 30; ++i) x = matmul(x, x);
  FakeTraining t({}, {SessionRunTimeout(1), RunOp(x.op(), {.before = false, .as_trigger = false, .each_step = true})});
  t.start();
  const std::string text = error_of([&] { t.epoch(1); });
  EXPECT_CONTAINS(text, "0.001");
  EXPECT_CONTAINS(error_of([] { SessionRunTimeout(0); }), "above 0");
}

}  // namespace
}  // namespace martello
