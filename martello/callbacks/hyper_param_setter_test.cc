#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/callbacks/human_setter.h>
#include <martello/callbacks/hyper_param_setter.h>
#include <martello/callbacks/trackers.h>
#include <martello/callbacks/wrappers.h>
#include <martello/loop/internal/fake_training.h>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;

struct Noise {
  double strength = 1;
};

struct SettersTest : ::testing::Test {
  Log log;
  std::shared_ptr<Noise> noise = make<Noise>();
  ObjAttrParam strength() const { return ObjAttrParam(noise, &Noise::strength, "strength"); }
};

// Puts one value of a list per epoch; -1 puts nothing.
struct Puts : Callback {
  explicit Puts(std::vector<double> v) : values(std::move(v)) {}
  void trigger() override {
    if (values[next] >= 0) monitors().put_scalar("error", values[next]);
    ++next;
  }
  std::vector<std::string> provides() const override { return {"error"}; }
  std::vector<double> values;
  size_t next = 0;
};

TEST_F(SettersTest, a_function_is_asked_before_training_and_every_epoch) {
  std::vector<int64_t> epochs;
  FakeTraining t({}, {HyperParamSetterWithFunc(strength(), [&](int64_t epoch, double old) {
                   epochs.push_back(epoch);
                   return epoch == 1 ? std::nullopt : std::optional(old / 2);
                 })});
  t.start();
  EXPECT_EQ(noise->strength, 0.5);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.5);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.25);
  EXPECT_EQ(epochs, (std::vector<int64_t>{0, 1, 2}));
}

TEST_F(SettersTest, a_resume_does_not_apply_a_function_twice) {
  const auto halve = [](int64_t, double old) { return std::optional(old / 2); };
  const auto first = make<HyperParamSetterWithFunc>(strength(), halve);
  std::string saved;
  {
    FakeTraining t({}, {first});
    t.start();
    t.epoch(1);
    EXPECT_EQ(noise->strength, 0.25);
    saved = save_state(*first);
  }
  noise = make<Noise>();
  const auto second = make<HyperParamSetterWithFunc>(strength(), halve);
  restore_state(*second, saved);
  EXPECT_EQ(noise->strength, 0.25);
  FakeTraining t({}, {second}, {.starting_epoch = 2});
  t.start();
  EXPECT_EQ(noise->strength, 0.25);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.125);
}

StatMonitorParamSetter on_plateau(ObjAttrParam param, StatMonitorOptions options) {
  return StatMonitorParamSetter(
      std::move(param), "error", [](double old) { return old / 10; }, options);
}

TEST_F(SettersTest, a_plateau_changes_the_value_and_begins_again) {
  FakeTraining t(
      {}, {Puts({5, 4, 3.9, 3.8, 3.85, 3.84, 3.83, 1}), on_plateau(strength(), {.threshold = 0.2, .last_k = 3})});
  t.start();
  std::vector<double> seen;
  for (int i = 0; i < 8; ++i) {
    t.epoch(1);
    seen.push_back(noise->strength);
  }
  // 4, 3.9, 3.8 are the first three that do not fall by 0.2; then it waits for three more.
  EXPECT_EQ(seen, (std::vector<double>{1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01}));
}

TEST_F(SettersTest, reverse_waits_for_larger_values) {
  FakeTraining t({}, {Puts({1, 2, 2, 2}), on_plateau(strength(), {.threshold = 0.5, .last_k = 2, .reverse = true})});
  t.start();
  t.epoch(1);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 1);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.1);
}

TEST_F(SettersTest, a_statistic_without_a_new_value_is_warned_about) {
  FakeTraining t({}, {Puts({-1, 1, -1, 1}), on_plateau(strength(), {.last_k = 2})});
  t.start();
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "'error' has no value yet");
  t.epoch(1);
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "no new value since step 2");
  EXPECT_EQ(noise->strength, 1);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.1);
}

TEST_F(SettersTest, history_survives_a_resume) {
  auto first = on_plateau(strength(), {.last_k = 2});
  const auto setter = make<StatMonitorParamSetter>(std::move(first));
  FakeTraining t({}, {Puts({1}), setter});
  t.start();
  t.epoch(1);
  const auto resumed = make<StatMonitorParamSetter>(on_plateau(strength(), {.last_k = 2}));
  restore_state(*resumed, save_state(*setter));
  FakeTraining u({}, {Puts({1}), resumed}, {.global_step = 1, .starting_epoch = 2});
  u.start();
  u.epoch(1);
  EXPECT_EQ(noise->strength, 0.1);
}

TEST_F(SettersTest, a_statistic_must_be_repeatable_and_provided) {
  const auto setter = [&](const char* stat) {
    return StatMonitorParamSetter(strength(), stat, [](double v) { return v; });
  };
  EXPECT_CONTAINS(error_of([&] {
                    FakeTraining({}, {ThroughputTracker(), setter("Throughput (steps/sec)")});
                  }),
                  "is volatile");
  const std::string text = error_of([&] { FakeTraining({}, {Puts({}), setter("eror")}); });
  for (const char* part : {"'StatMonitorParamSetter'", "'eror'", "Did you mean 'error'?"}) EXPECT_CONTAINS(text, part);
}

struct HumanSetterTest : SettersTest {
  TestDir dir;
  HumanSetterTest() { logger::set_logger_dir(dir.path(), logger::OldRun::keep); }
};

TEST_F(HumanSetterTest, reads_the_file_on_every_trigger) {
  FakeTraining t({}, {HumanHyperParamSetter(strength())});
  t.start();
  t.epoch(1);
  EXPECT_EQ(noise->strength, 1);
  dir.write("hyper.txt", "other:3\n strength : 0.5 \n\n");
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.5);
}

TEST_F(HumanSetterTest, warns_of_what_it_cannot_read) {
  FakeTraining t({}, {HumanHyperParamSetter(strength())});
  dir.write("hyper.txt", "strength 0.5\n");
  t.start();
  EXPECT_CONTAINS(log.lines.back(), "is no `name:value`");
  dir.write("hyper.txt", "strength:nan\n");
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "is no `name:value`");
  dir.write("hyper.txt", "strenght:0.5\n");
  t.epoch(1);
  EXPECT_CONTAINS(log.lines.back(), "cannot find 'strength'");
  EXPECT_EQ(noise->strength, 1);
}

TEST_F(HumanSetterTest, a_resumed_run_takes_what_was_typed_then) {
  const auto first = make<HumanHyperParamSetter>(strength());
  std::string saved;
  {
    FakeTraining t({}, {first});
    t.start();
    t.epoch(1);
    saved = save_state(*first);
    dir.write("hyper.txt", "strength:0.5\n");
    t.epoch(1);
    EXPECT_EQ(noise->strength, 0.5);
  }
  noise->strength = 1;
  dir.write("hyper.txt", "strength:0.25\n");  // typed after the crash
  const auto second = make<HumanHyperParamSetter>(strength());
  restore_state(*second, saved);
  FakeTraining t({}, {second}, {.global_step = 1, .starting_epoch = 2});
  t.start();
  EXPECT_EQ(noise->strength, 1);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.5);
  t.epoch(1);
  EXPECT_EQ(noise->strength, 0.25);
}

TEST_F(HumanSetterTest, a_new_run_forgets_the_journal_of_another) {
  dir.write("hyper.txt.journal", "1 strength:0.5\n");
  FakeTraining t({}, {HumanHyperParamSetter(strength())});
  t.start();
  t.epoch(1);
  EXPECT_EQ(noise->strength, 1);
  EXPECT_EQ(dir.read("hyper.txt.journal"), "0 strength:-\n1 strength:-\n");
}

TEST_F(HumanSetterTest, needs_a_directory) {
  logger::close_logger_dir();
  EXPECT_CONTAINS(error_of([&] { FakeTraining({}, {HumanHyperParamSetter(strength())}); }), "auto_set_dir");
}

TEST_F(SettersTest, refuse_empty_functions) {
  EXPECT_CONTAINS(error_of([&] { HyperParamSetterWithFunc("a", {}); }), "function is empty");
  EXPECT_CONTAINS(error_of([&] { StatMonitorParamSetter("a", "b", {}); }), "is empty");
  EXPECT_CONTAINS(error_of([&] { StatMonitorParamSetter("a", "b", [](double v) { return v; }, {.last_k = 0}); }),
                  ".last_k is 0");
  EXPECT_CONTAINS(error_of([&] { ObjAttrParam("a", {}, {}); }), "'a'");
}

}  // namespace
}  // namespace martello
