#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/loop/internal/fake_training.h>

#include <signal.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace martello {
namespace {

using testing::error_of;
using testing::FakeTraining;
using testing::Log;
using testing::TestDir;

struct JsonWriterTest : ::testing::Test {
  TestDir dir;
  Log log;
};

TEST_F(JsonWriterTest, a_row_per_moment_that_has_scalars) {
  FakeTraining t({JSONWriter(dir.path())});
  t.monitors().put_scalar("lr", 0.1);
  t.start();
  t.epoch(3, [&] { t.monitors().put_scalar("loss", double(t.loop().global_step)); });
  t.epoch(1);
  t.epoch(1, [&] { t.monitors().put_scalar("speed", 1.5, ScalarClass::volatile_); });
  t.finish();
  EXPECT_EQ(dir.read("stats.jsonl"),
            "{\"epoch_num\":0,\"global_step\":0,\"lr\":0.1}\n"
            "{\"epoch_num\":1,\"global_step\":1,\"loss\":1.0}\n"
            "{\"epoch_num\":1,\"global_step\":2,\"loss\":2.0}\n"
            "{\"epoch_num\":1,\"global_step\":3,\"loss\":3.0}\n"
            "{\"epoch_num\":3,\"global_step\":5,\"volatile\":{\"speed\":1.5}}\n");
}

TEST_F(JsonWriterTest, a_row_is_on_the_disk_when_the_epoch_has_ended) {
  FakeTraining t({JSONWriter(dir.path())});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 1); });
  EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 1u);
}

TEST_F(JsonWriterTest, of_one_name_the_last_value_of_a_row_stays) {
  FakeTraining t({JSONWriter(dir.path())});
  t.monitors().put_scalar("a", 1);
  t.monitors().put_scalar("b", 2);
  t.monitors().put_scalar("a", 3);
  t.start();
  EXPECT_EQ(dir.read("stats.jsonl"), "{\"epoch_num\":0,\"global_step\":0,\"a\":3.0,\"b\":2.0}\n");
}

TEST_F(JsonWriterTest, any_value_and_any_name_is_valid_json) {
  const std::vector<std::string> names = {"größe/\"x\"", "損失\\", "a b,c:{}", "😀"};
  FakeTraining t({JSONWriter(dir.path())});
  t.monitors().put_scalar(names[0], std::nan(""));
  t.monitors().put_scalar(names[1], std::numeric_limits<double>::infinity());
  t.monitors().put_scalar(names[2], -std::numeric_limits<double>::infinity());
  t.monitors().put_scalar(names[3], std::numeric_limits<double>::denorm_min());
  t.start();
  const std::string line = dir.read("stats.jsonl");
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json[names[0]], "nan");
  EXPECT_EQ(json[names[1]], "inf");
  EXPECT_EQ(json[names[2]], "-inf");
  const StatsRow row = load_stats(dir.file("stats.jsonl")).at(0);
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(row.scalars[i].first, names[i]);
  EXPECT_TRUE(std::isnan(row.scalars[0].second));
  EXPECT_EQ(row.scalars[2].second, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(row.scalars[3].second, std::numeric_limits<double>::denorm_min());
}

TEST_F(JsonWriterTest, goes_on_behind_the_run_before) {
  dir.write("stats.jsonl", "{\"epoch_num\":2,\"global_step\":20,\"loss\":1.0}\n");
  FakeTraining t({JSONWriter(dir.path())}, {}, {.starting_epoch = 3});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 2); });
  EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 2u);
  EXPECT_EQ(find_existing_epoch(dir.path()), 3);
}

TEST_F(JsonWriterTest, another_runs_file_is_put_aside) {
  dir.write("stats.jsonl", "{\"epoch_num\":5,\"global_step\":20,\"loss\":1.0}\n");
  FakeTraining t({JSONWriter(dir.path())});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 2); });
  EXPECT_EQ(dir.list("stats.jsonl").size(), 2u);
  EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 1u);
  EXPECT_CONTAINS(log.lines.at(0), "ends with epoch 5, but this run starts with epoch 1");
}

TEST_F(JsonWriterTest, a_row_that_was_cut_is_dropped) {
  dir.write("stats.jsonl", "{\"epoch_num\":2,\"global_step\":20,\"loss\":1.0}\n{\"epoch_num\":3,\"glo");
  EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 1u);
  FakeTraining t({JSONWriter(dir.path())}, {}, {.starting_epoch = 3});
  t.start();
  t.epoch(1, [&] { t.monitors().put_scalar("loss", 2); });
  EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 2u);
  EXPECT_CONTAINS(log.lines.at(0), "is cut and is dropped");
}

TEST_F(JsonWriterTest, uses_the_loggers_directory) {
  logger::set_logger_dir(dir.path());
  FakeTraining t({JSONWriter(), CSVWriter(), TFEventWriter()});
  t.start();
  EXPECT_EQ(dir.list("events.out.tfevents.").size(), 1u);
  EXPECT_EQ(dir.list("stats.").size(), 2u);
}

TEST_F(JsonWriterTest, without_a_directory_it_says_so_and_does_nothing) {
  FakeTraining t({JSONWriter(), CSVWriter(), TFEventWriter()});
  ASSERT_EQ(log.lines.size(), 3u);
  EXPECT_CONTAINS(log.lines[0], "[JSONWriter] there is no log directory: it writes nothing");
  t.monitors().put_scalar("loss", 1);
  t.start();
  t.epoch(2);
  t.monitors().flush();
  t.finish();
}

TEST_F(JsonWriterTest, a_directory_that_is_missing_is_refused_before_training) {
  const auto make_training = [&] { FakeTraining t({JSONWriter(dir.file("missing"))}); };
  EXPECT_CONTAINS(error_of(make_training), "[JSONWriter] '" + dir.file("missing") + "' is no directory");
}

TEST_F(JsonWriterTest, a_broken_line_is_named) {
  dir.write("stats.jsonl", "{\"epoch_num\":2,\"global_step\":20}\nnonsense\n");
  const std::string text = error_of([&] { load_stats(dir.file("stats.jsonl")); });
  EXPECT_CONTAINS(text, "\"nonsense\" is no JSON object");
  EXPECT_CONTAINS(text, "in line 2 of");
  EXPECT_THROW(load_stats(dir.file("missing")), NotFound);
  for (const char* bad : {"[]", "{}", "{\"global_step\":\"x\"}", "1", "\"", "{\"global_step\":1,\"a\":"})
    EXPECT_THROW(parse_stats_line(bad), InvalidArgument) << bad;
}

// A limit of the process stands for a disk that is full for a while.
TEST_F(JsonWriterTest, a_full_disk_stops_nothing_and_rows_wait_for_room) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [&] {
    signal(SIGXFSZ, SIG_IGN);
    FakeTraining t({JSONWriter(dir.path()), CSVWriter(dir.path()), TFEventWriter({.dir = dir.path()})});
    t.start();
    const rlimit full = {60, RLIM_INFINITY}, free = {RLIM_INFINITY, RLIM_INFINITY};
    const auto put = [&] { t.monitors().put_scalar("a_rather_long_name_of_a_scalar", double(t.loop().global_step)); };
    t.epoch(1, put);
    setrlimit(RLIMIT_FSIZE, &full);
    t.epoch(3, put);
    EXPECT_THROW(t.monitors().flush(), Error);
    EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 1u);
    const auto said = std::count_if(log.lines.begin(), log.lines.end(), [](const std::string& line) {
      return line.find("File too large. Training goes on; the rows wait for room.") != std::string::npos;
    });
    EXPECT_EQ(said, 3);
    setrlimit(RLIMIT_FSIZE, &free);
    t.epoch(1, put);
    t.finish();
    EXPECT_EQ(load_stats(dir.file("stats.jsonl")).size(), 5u);
    EXPECT_EQ(split(dir.read("stats.csv"), '\n').size(), 7u);
    std::_Exit(::testing::Test::HasFailure());
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), "");
}

TEST(csv_writer, a_line_per_scalar) {
  const TestDir dir;
  FakeTraining t({CSVWriter(dir.path())});
  t.start();
  t.epoch(2, [&] { t.monitors().put_scalar("a,\"b\"", 0.5); });
  t.monitors().put_scalar("speed", std::nan(""), ScalarClass::volatile_);
  t.finish();
  EXPECT_EQ(dir.read("stats.csv"),
            "epoch_num,global_step,class,name,value\n"
            "1,1,run,\"a,\"\"b\"\"\",0.5\n"
            "1,2,run,\"a,\"\"b\"\"\",0.5\n"
            "1,2,volatile,speed,nan\n");
}

TEST(csv_writer, goes_on_behind_the_run_before) {
  const TestDir dir;
  for (int64_t epoch : {1, 2}) {
    FakeTraining t({CSVWriter(dir.path())}, {}, {.starting_epoch = epoch});
    t.start();
    t.epoch(1, [&] { t.monitors().put_scalar("a", 1); });
    t.finish();
  }
  EXPECT_EQ(split(dir.read("stats.csv"), '\n').size(), 4u);
}

}  // namespace
}  // namespace martello
