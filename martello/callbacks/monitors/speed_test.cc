#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/monitors/scalar_printer.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/loop/internal/fake_training.h>
#include <martello/runtime/internal/count_allocations.h>

#include <chrono>

namespace martello {
namespace {

using testing::FakeTraining;
using testing::TestDir;

std::vector<Ref<Monitor>> all_monitors(const std::string& dir) {
  return {JSONWriter(dir), CSVWriter(dir), TFEventWriter({.dir = dir}),
          ScalarPrinter({.whitelist = std::vector<std::string>{}})};
}

TEST(monitors_speed, a_scalar_that_came_before_allocates_nothing) {
  const TestDir dir;
  FakeTraining t(all_monitors(dir.path()));
  t.start();
  const std::vector<std::string> names = {"a", "a rather long name that is no small string", "c/d"};
  const auto put = [&](int times) {
    for (int i = 0; i < times; ++i)
      for (const std::string& name : names) t.monitors().put_scalar(name, i);
  };
  put(1000);
  t.monitors().flush();
  testing::start_counting_allocations();
  put(300);
  EXPECT_EQ(testing::stop_counting_allocations(), 0);
}

// Ten seconds would be 10 us a scalar; it takes a small fraction of that.
TEST(monitors_speed, a_million_scalars) {
  const TestDir dir;
  FakeTraining t(all_monitors(dir.path()));
  t.start();
  const auto start = std::chrono::steady_clock::now();
  for (int epoch = 0; epoch < 100; ++epoch)
    t.epoch(1, [&] {
      for (int i = 0; i < 10000; ++i) t.monitors().put_scalar(i % 2 ? "loss" : "error", i);
    });
  t.finish();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("nanoseconds_per_scalar", static_cast<int>(seconds.count() * 1000));
  EXPECT_LT(seconds.count(), 10);
  EXPECT_EQ(t.monitors().get_history("loss").size(), 100u);
}

}  // namespace
}  // namespace martello
