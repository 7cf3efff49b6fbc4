#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/loop/human_time.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/loop/internal/metric_name.h>

#include <cmath>
#include <limits>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using Lines = std::vector<std::string>;
using History = std::vector<std::pair<int64_t, double>>;

struct Recorder : Monitor {
  explicit Recorder(std::shared_ptr<Lines> l) : lines(std::move(l)) {}
  void process_scalar(std::string_view name, double value) override { lines->push_back(str(name, " ", value)); }
  void process_image(std::string_view name, const HostTensor& x) override { lines->push_back(str(name, " ", x.str())); }
  void process_histogram(std::string_view name, const HostTensor& x) override {
    lines->push_back(str(name, " ", x.num_elements()));
  }
  void process_text(std::string_view name, std::string_view text) override { lines->push_back(str(name, " ", text)); }
  void process_event(const Event& e) override { lines->push_back(str(e.bytes, " ", e.step, " ", e.wall_time > 1e9)); }
  void flush() override { lines->push_back("flush"); }
  std::shared_ptr<Lines> lines;
};

struct MonitorsTest : ::testing::Test {
  std::shared_ptr<Lines> lines = std::make_shared<Lines>();
  FakeTraining training{{Recorder(lines)}};
  Monitors& all = training.monitors();
};

TEST_F(MonitorsTest, everything_reaches_every_monitor_in_order) {
  all.put_scalar("loss", 0.5);
  all.put_scalar("speed", 100, ScalarClass::volatile_);
  all.put_histogram("w", HostTensor(Shape(7), f32));
  all.put_text("note", "hello");
  all.put_event({.kind = EventKind::run_metadata, .bytes = "trace"});
  EXPECT_EQ(*lines, (Lines{"loss 0.5", "speed 100", "w 7", "note hello", "trace 0 true"}));
}

TEST_F(MonitorsTest, history_and_latest) {
  training.start();
  training.epoch(2, [&] { all.put_scalar("loss", 10.0 / double(training.loop().global_step)); });
  EXPECT_EQ(all.get_history("loss"), (History{{1, 10}, {2, 5}}));
  EXPECT_EQ(all.get_latest("loss"), 5);
  EXPECT_EQ(all.find_latest("cost"), std::nullopt);
  EXPECT_TRUE(all.get_history("cost").empty());
  EXPECT_EQ(all.scalar_names(), Lines{"loss"});
}

TEST_F(MonitorsTest, an_unknown_scalar_has_near_misses) {
  all.put_scalar("validation_error", 1);
  EXPECT_CONTAINS(error_of<NotFound>([&] { all.get_latest("validation_eror"); }), "Did you mean 'validation_error'?");
}

TEST_F(MonitorsTest, of_two_values_in_a_step_the_later_stays) {
  all.put_scalar("loss", 1);
  all.put_scalar("loss", 2);
  EXPECT_EQ(all.get_history("loss"), (History{{0, 2}}));
  EXPECT_EQ(*lines, (Lines{"loss 1", "loss 2"}));
}

TEST_F(MonitorsTest, values_that_are_not_finite_are_values) {
  all.put_scalar("a", std::nan(""));
  all.put_scalar("b", -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(all.get_latest("a")));
  EXPECT_EQ(all.get_latest("b"), -std::numeric_limits<double>::infinity());
}

TEST_F(MonitorsTest, names_are_text_that_a_row_can_hold) {
  for (const char* good : {"größe/\"x\"", "損失", "a b,c", "\\", "Throughput (steps/sec)", "😀"})
    EXPECT_NO_THROW(all.put_scalar(good, 1)) << good;
  for (const char* bad : {"", "two\nlines", "\x7f", "\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    EXPECT_THROW(all.put_scalar(bad, 1), InvalidArgument) << bad;
  EXPECT_CONTAINS(error_of([&] { all.put_scalar("global_step", 1); }), "'global_step' names the scalar and a key");
  EXPECT_THROW(all.put_image("a\tb", HostTensor(Shape(2, 2), f32)), InvalidArgument);
  EXPECT_THROW(all.put_text("note", "\xff"), InvalidArgument);
}

TEST_F(MonitorsTest, a_scalar_stays_of_its_class) {
  all.put_scalar("speed", 1, ScalarClass::volatile_);
  EXPECT_CONTAINS(error_of([&] { all.put_scalar("speed", 1); }), "came as volatile and now comes as run");
}

TEST_F(MonitorsTest, what_is_volatile_decides_nothing) {
  all.put_scalar("speed", 1, ScalarClass::volatile_);
  all.put_scalar("loss", 1);
  EXPECT_NO_THROW(all.check_repeatable("loss", "MinSaver"));
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { all.check_repeatable("speed", "MinSaver"); }),
                  "[MinSaver] decides by 'speed', which is volatile");
}

TEST_F(MonitorsTest, images_become_bytes_of_four_axes) {
  all.put_image("grey", HostTensor::of<float>({-5, 0.6F, 300, std::nanf("")}, {2, 2}));
  all.put_image("color", HostTensor(Shape(2, 1, 3), u8));
  all.put_image("several", HostTensor(Shape(3, 1, 2), u8));
  all.put_image("batch", HostTensor(Shape(2, 1, 1, 4), f32));
  EXPECT_EQ(*lines, (Lines{"grey u8[1, 2, 2, 1] 0 1 255 0", "color u8[1, 2, 1, 3] 0 0 0 0 0 0",
                           "several u8[3, 1, 2, 1] 0 0 0 0 0 0", "batch u8[2, 1, 1, 4] 0 0 0 0 0 0 0 0"}));
  EXPECT_CONTAINS(error_of([&] { all.put_image("x", HostTensor(Shape(2), u8)); }), "image 'x' is [2]");
  EXPECT_CONTAINS(error_of([&] { all.put_image("x", HostTensor(Shape(1, 2, 2, 2), u8)); }), "is [1, 2, 2, 2]");
  EXPECT_CONTAINS(error_of([&] { all.put_image("x", HostTensor(Shape(0, 2), u8)); }), "has no pixels");
}

TEST_F(MonitorsTest, after_training_nothing_is_taken) {
  training.start();
  training.finish();
  EXPECT_THROW(all.put_scalar("loss", 1), Error);
}

TEST(monitors_flush, one_that_fails_does_not_keep_the_others) {
  struct Broken : Monitor {
    void flush() override { throw InvalidArgument("disk full"); }
  };
  const auto lines = std::make_shared<Lines>();
  FakeTraining training({Broken(), Recorder(lines)});
  EXPECT_CONTAINS(error_of([&] { training.monitors().flush(); }), "disk full");
  EXPECT_EQ(*lines, Lines{"flush"});
}

TEST(monitors_state, the_history_survives) {
  FakeTraining one({});
  one.monitors().put_scalar("loss", 0.1);
  one.monitors().put_scalar("speed", 7, ScalarClass::volatile_);
  const std::string saved = save_state(one.monitors());
  FakeTraining two({});
  two.monitors().put_scalar("gone", 1);
  restore_state(two.monitors(), saved);
  EXPECT_EQ(two.monitors().scalar_names(), (Lines{"loss", "speed"}));
  EXPECT_EQ(two.monitors().get_history("loss"), (History{{0, 0.1}}));
  EXPECT_THROW(two.monitors().check_repeatable("speed", "x"), FailedPrecondition);
  EXPECT_EQ(save_state(two.monitors()), saved);
}

TEST(monitors_list, refuses_a_null_monitor) {
  EXPECT_CONTAINS(error_of([] { Monitors({Ref<Monitor>()}); }), "monitor 0 of 1 is null");
}

TEST_F(MonitorsTest, a_class_may_be_declared_before_the_first_value) {
  all.declare("speed", ScalarClass::volatile_);
  EXPECT_TRUE(all.scalar_names().empty());
  EXPECT_EQ(all.find_latest("speed"), std::nullopt);
  EXPECT_THROW(all.check_repeatable("speed", "me"), FailedPrecondition);
  EXPECT_THROW(all.put_scalar("speed", 1), InvalidArgument);
  all.put_scalar("speed", 1, ScalarClass::volatile_);
  EXPECT_EQ(all.scalar_names(), Lines{"speed"});
}

TEST(time_text, is_what_people_write) {
  EXPECT_EQ(human_time(0), "0 second");
  EXPECT_EQ(human_time(0.01234), "0.0123 second");
  EXPECT_EQ(human_time(59.94), "59.9 seconds");
  EXPECT_EQ(human_time(3725), "1 hour 2 minutes 5 seconds");
  EXPECT_EQ(human_time(172801), "2 days 1 second");
}

}  // namespace
}  // namespace martello
