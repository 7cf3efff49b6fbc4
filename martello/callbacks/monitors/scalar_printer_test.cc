#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/monitors/scalar_printer.h>
#include <martello/loop/internal/fake_training.h>

#include <cmath>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;
using Lines = std::vector<std::string>;

struct ScalarPrinterTest : ::testing::Test {
  Log log;
};

TEST_F(ScalarPrinterTest, prints_sorted_with_five_digits_at_the_end_of_an_epoch) {
  FakeTraining t({ScalarPrinter()});
  t.monitors().put_scalar("lr", 0.1);
  t.start();
  EXPECT_EQ(log.lines, Lines{"lr: 0.1"});
  t.epoch(2, [&] {
    t.monitors().put_scalar("loss", 1.0 / 3);
    t.monitors().put_scalar("error", 123456);
    t.monitors().put_scalar("bad", std::nan(""));
  });
  EXPECT_EQ(log.lines, (Lines{"lr: 0.1", "bad: nan", "error: 1.2346e+05", "loss: 0.33333"}));
  t.epoch(1);
  EXPECT_EQ(log.lines.size(), 4u);
}

TEST_F(ScalarPrinterTest, each_step_and_the_last_one_with_the_epoch) {
  FakeTraining t({ScalarPrinter({.enable_step = true})});
  t.start();
  t.epoch(3, [&] { t.monitors().put_scalar("s", double(t.loop().local_step)); });
  EXPECT_EQ(log.lines, (Lines{"s: 0", "s: 1", "s: 2"}));
}

TEST_F(ScalarPrinterTest, steps_without_epochs_print_the_last_step_too) {
  FakeTraining t({ScalarPrinter({.enable_step = true, .enable_epoch = false})});
  t.start();
  t.epoch(2, [&] { t.monitors().put_scalar("s", double(t.loop().local_step)); });
  EXPECT_EQ(log.lines, (Lines{"s: 0", "s: 1"}));
}

TEST_F(ScalarPrinterTest, lists_choose_by_a_part_of_the_name) {
  FakeTraining t({ScalarPrinter({.whitelist = Lines{"error", "^loss"}, .blacklist = {"train"}})});
  for (const char* name : {"train_error", "val_error", "loss/a", "my_loss"}) t.monitors().put_scalar(name, 1);
  t.start();
  EXPECT_EQ(log.lines, (Lines{"loss/a: 1", "val_error: 1"}));
}

TEST_F(ScalarPrinterTest, an_empty_whitelist_prints_nothing) {
  FakeTraining t({ScalarPrinter({.whitelist = Lines{}})});
  t.monitors().put_scalar("a", 1);
  t.start();
  EXPECT_TRUE(log.lines.empty());
  EXPECT_CONTAINS(error_of([] { ScalarPrinter({.blacklist = {"("}}); }),
                  "[ScalarPrinter] '(' is no regular expression");
}

struct SendMonitorDataTest : ::testing::Test {
  TestDir dir;
  Log log;
};

TEST_F(SendMonitorDataTest, runs_when_all_names_have_new_values) {
  FakeTraining t({SendMonitorData("echo '{a:.2f} {b/c}' >> " + dir.file("out"), {"a", "b/c"})});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("a", 1.0 / 3); });
  EXPECT_EQ(dir.read("out"), "");
  t.epoch(1, [&] { t.monitors().put_scalar("b/c", 0.5); });
  EXPECT_EQ(dir.read("out"), "0.33 0.5\n");
  t.epoch(1, [&] { t.monitors().put_scalar("a", 2); });
  EXPECT_EQ(dir.read("out"), "0.33 0.5\n");
  t.epoch(1, [&] { t.monitors().put_scalar("b/c", std::nan("")); });
  EXPECT_EQ(dir.read("out"), "0.33 0.5\n2.00 nan\n");
}

TEST_F(SendMonitorDataTest, a_command_that_fails_is_an_error_in_the_log) {
  FakeTraining t({SendMonitorData("exit 3 # {a}", {"a"})});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("a", 1); });
  EXPECT_EQ(log.lines, Lines{"[SendMonitorData] exit code 3 from: exit 3 # 1"});
}

TEST_F(SendMonitorDataTest, braces_can_be_written) {
  FakeTraining t({SendMonitorData("echo '{{\"loss\": {loss}}}' > " + dir.file("out"), {"loss"})});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 1.5); });
  EXPECT_EQ(dir.read("out"), "{\"loss\": 1.5}\n");
}

TEST_F(SendMonitorDataTest, refuses_what_it_cannot_fill_in) {
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo {los}", {"loss"}); }), "asks for {los}");
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo {loss:s}", {"loss"}); }), "is none of a number");
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo {loss:.9999999f}", {"loss"}); }), "is none of a number");
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo {loss", {"loss"}); }), "has a single '{'");
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo }", {"loss"}); }), "has a single '}'");
  EXPECT_CONTAINS(error_of([] { SendMonitorData("echo", {}); }), "has no names");
}

}  // namespace
}  // namespace martello
