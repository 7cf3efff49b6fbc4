#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/internal/find_checkpoint.h>
#include <martello/train/internal/fingerprint.h>
#include <martello/train/internal/retention.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::Log;

class CheckpointTest : public ::testing::Test {
 protected:
  std::string path(int64_t step) const { return str(dir_, "/model-", step, ".safetensors"); }
  std::string save(int64_t step, double time = 0) const {
    Checkpoint c{.info = {.global_step = step,
                          .position = {3, 7, Phase::trigger_step, 0},
                          .next_callback = "Validate",
                          .end = "stopped: \"enough\"\nof it",
                          .run = "abc",
                          .saved_at = time != 0 ? time : static_cast<double>(step) + 0.25,
                          .best = {{.name = "min-a=b", .value = 0.1, .keep = 2, .is_best = false},
                                   {.name = "max-c", .value = -3, .is_max = true}}},
                 .variables = {{"w", HostTensor({20, 30}, f32)}, {"global_step", HostTensor(step)}},
                 .local_variables = {{"drop/counter", HostTensor::of<int64_t>({step, 2})}},
                 .state = std::string("any\0bytes", 9),
                 .fingerprint = {{"graph", "a\nb\n"}, {"trainer", "T"}},
                 .kernel_choices = "none\n"};
    write_checkpoint(path(step), c);
    return path(step);
  }
  std::string read(const std::string& p) const {
    std::ifstream file(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void flip(const std::string& p, size_t at, int bit) const {
    std::string bytes = read(p);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    std::ofstream(p, std::ios::binary) << bytes;
  }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

TEST_F(CheckpointTest, reads_back_what_was_written) {
  const Checkpoint c = read_checkpoint(save(9));
  EXPECT_EQ(c.info.path, path(9));
  EXPECT_EQ(c.info.global_step, 9);
  EXPECT_EQ(c.info.position, (LoopPosition{3, 7, Phase::trigger_step, 0}));
  EXPECT_EQ(c.info.next_callback, "Validate");
  EXPECT_EQ(c.info.end, "stopped: \"enough\"\nof it");
  EXPECT_TRUE(c.info.is_stopped());
  EXPECT_EQ(c.info.run, "abc");
  EXPECT_EQ(c.info.saved_at, 9.25);
  ASSERT_EQ(c.info.best.size(), 2u);
  EXPECT_EQ(c.info.best[0].name, "min-a=b");
  EXPECT_EQ(c.info.best[0].value, 0.1);
  EXPECT_EQ(c.info.best[0].keep, 2);
  EXPECT_TRUE(!c.info.best[0].is_best && c.info.best[1].is_best && c.info.best[1].is_max);
  ASSERT_EQ(c.variables.size(), 2u);
  EXPECT_EQ(c.variables[0].value.scalar<int64_t>(), 9);
  ASSERT_EQ(c.local_variables.size(), 1u);
  EXPECT_EQ(c.local_variables[0].name, "drop/counter");
  EXPECT_EQ(c.state, std::string("any\0bytes", 9));
  EXPECT_EQ(c.fingerprint.at(0).text, "a\nb\n");
  EXPECT_EQ(c.kernel_choices, "none\n");
}

TEST_F(CheckpointTest, names_that_no_file_holds_are_refused) {
  for (const char* name : {"__martello__/w", "__metadata__", "w\xff"}) {
    EXPECT_CONTAINS(error_of<InvalidArgument>([&] { check_variable_name(name); }), "[checkpoint] variable ");
    EXPECT_THROW(write_checkpoint(path(1), {.variables = {{name, HostTensor(1.f)}}}), InvalidArgument);
  }
  check_variable_name("gr\xc3\xbc\xc3\x9f/__metadata__");
}

TEST_F(CheckpointTest, two_thousand_flipped_bits_are_all_found) {
  const std::string good = save(1), bytes = read(good), bad = dir_ + "/bad.safetensors";
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    const size_t at = random() % bytes.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << (random() % 8)));
    std::ofstream(bad, std::ios::binary) << changed;
    EXPECT_THROW(read_checkpoint(bad), Error) << "byte " << at;
    EXPECT_THROW(verify_checkpoint(bad), Error) << "byte " << at;
  }
}

TEST_F(CheckpointTest, other_files_are_refused_with_the_reason) {
  write_safetensors(path(1), {{"w", HostTensor(1.f)}}, {}, {.checksums = true});
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { read_checkpoint(path(1)); }), "no checkpoint of a run. SmartInit()");
  const auto with_step = [&](const std::string& step) {
    auto metadata = SafetensorsFile(save(1)).metadata();
    metadata["global_step"] = step;
    write_safetensors(path(1), {{"w", HostTensor(1.f)}}, metadata, {.checksums = true});
    return error_of<InvalidArgument>([&] { read_checkpoint_info(path(1)); });
  };
  EXPECT_CONTAINS(with_step("-4"), "its global_step is -4, below 0");
  EXPECT_CONTAINS(with_step("1e3"), "its global_step is \"1e3\", which is no such number");
  EXPECT_CONTAINS(with_step("99999999999999999999"), "no such number");
  EXPECT_THROW(read_checkpoint(path(5)), NotFound);
}

// They are sorted by these, or counted on.
TEST_F(CheckpointTest, numbers_that_cannot_be_compared_or_counted_on_are_refused) {
  const auto with = [&](const std::string& key, const std::string& value) {
    auto metadata = SafetensorsFile(save(1)).metadata();
    metadata[key] = value;
    write_safetensors(path(1), {{"w", HostTensor(1.f)}}, metadata, {.checksums = true});
    return list_checkpoints(dir_).at(0).why;
  };
  for (const char* time : {"nan", "inf", "-1", "1e300"}) EXPECT_CONTAINS(with("saved_at", time), "which is no time");
  for (const char* key : {"global_step", "epoch_num", "steps_done"})
    EXPECT_CONTAINS(with(key, "9223372036854775807"), "which no run reaches");
  EXPECT_EQ(with("epoch_num", "-2"), "");
  EXPECT_CONTAINS(with("best", "min-a=nan min 1 best"), "has a value that is no number");
  EXPECT_EQ(with("best", "min-a=-inf min 1 best"), "") << "a statistic may be";
}

TEST_F(CheckpointTest, are_listed_the_newest_first) {
  save(1, 300), save(2, 100), save(3, 200);
  std::ofstream(path(4)) << "garbage";
  fs::create_directory(dir_ + "/model-5.safetensors");
  for (const char* other :
       {"/model-x.safetensors", "/crash-1.safetensors", "/model-1.safetensors.part", "/min-a.safetensors"})
    std::ofstream(dir_ + other) << "";
  const auto files = list_checkpoints(dir_);
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[2].path, path(1));
  EXPECT_EQ(files[3].path, path(3));
  EXPECT_EQ(files[4].path, path(2));
  EXPECT_FALSE(files[0].info || files[1].info);
  EXPECT_CONTAINS(error_of<FileError>([&] { list_checkpoints(dir_ + "/missing"); }), "cannot read the directory");
}

TEST_F(CheckpointTest, a_damaged_one_is_left_out_loudly_and_never_all_of_them) {
  Log log;
  EXPECT_FALSE(find_checkpoint("auto", {dir_}));
  EXPECT_FALSE(find_checkpoint("none", {dir_}));
  save(1), save(2), save(3);
  EXPECT_EQ(find_checkpoint("auto", {dir_})->info.global_step, 3);
  flip(path(3), read(path(3)).size() - 5, 2);
  EXPECT_EQ(find_checkpoint("auto", {dir_})->info.global_step, 2);
  EXPECT_CONTAINS(log.lines.back(), "model-3.safetensors' cannot be used");
  EXPECT_THROW(find_checkpoint(path(3), {}), InvalidArgument) << "a path means this very one";
  EXPECT_EQ(find_checkpoint(dir_, {})->info.global_step, 2);
  fs::resize_file(path(1), 100), fs::resize_file(path(2), 0);
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { find_checkpoint("auto", {dir_}); }), "none of the 3 checkpoints");
  EXPECT_THROW(find_checkpoint(dir_ + "/none", {}), NotFound);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { find_checkpoint("", {}); }), ".from is empty");
}

TEST_F(CheckpointTest, tells_whether_a_run_can_go_on) {
  EXPECT_FALSE(has_unfinished_run(dir_ + "/missing"));
  EXPECT_FALSE(has_unfinished_run(dir_));
  std::ofstream(dir_ + "/log.log") << "killed before its first checkpoint";
  EXPECT_TRUE(has_unfinished_run(dir_));
  save(1);
  EXPECT_FALSE(has_unfinished_run(dir_)) << "it was stopped";
  std::ofstream(path(2)) << "garbage";
  EXPECT_TRUE(has_unfinished_run(dir_)) << "nobody knows, so it is not started over";
}

// The same version of the library has other bits with other instructions.
TEST(fingerprint, knows_the_instructions_of_this_processor) {
  const FingerprintItem last = fingerprint_of({}).back();
  EXPECT_EQ(last.name, "environment");
  EXPECT_CONTAINS(last.text, str(onednn::version(), " with ", onednn::instruction_set(), "\n"));
}

TEST(fingerprint, a_difference_is_refused_readably_unless_accepted) {
  Log log;
  const Fingerprint saved = {{"graph", "a\nb\nc\n"}, {"steps_per_epoch", "100"}, {"environment", "2 threads"}};
  compare_fingerprints(saved, saved, {}, "[resume] ");
  Fingerprint now = {{"graph", "a\nB\nc\nd\n"}, {"steps_per_epoch", "50"}, {"environment", "4 threads"}};
  const std::string text = error_of<FailedPrecondition>([&] { compare_fingerprints(saved, now, {}, "[resume] "); });
  for (const char* part : {"graph:\n    - b\n    + B\n    + d", "steps_per_epoch:\n    - 100\n    + 50",
                           ".resume.accept = {\"graph\", \"steps_per_epoch\"}"})
    EXPECT_CONTAINS(text, part);
  compare_fingerprints(saved, now, {"graph", "steps_per_epoch"}, "[resume] ");
  EXPECT_CONTAINS(log.lines.back(), "4 threads");
  now[0].text = "b\na\nc\n";
  EXPECT_CONTAINS(error_of([&] { compare_fingerprints(saved, now, {"steps_per_epoch"}, "[resume] "); }),
                  "the same lines in another order");
}

using Paths = std::vector<std::string>;

std::vector<CheckpointInfo> epochs(int count) {
  std::vector<CheckpointInfo> all;
  for (int i = 1; i <= count; ++i)
    all.push_back({.path = str(i), .position = {i, 10, Phase::trigger_epoch, 0}, .saved_at = 60.0 * i});
  return all;
}

TEST(retention, keeps_what_any_rule_wants) {
  EXPECT_EQ(superfluous(epochs(4), {.newest = 0}), Paths());
  EXPECT_EQ(superfluous(epochs(4), {.newest = 3}), (Paths{"1"}));
  EXPECT_EQ(superfluous(epochs(9), {.newest = 2, .every_epochs = 3}), (Paths{"1", "2", "4", "5", "7"}));
  EXPECT_EQ(superfluous(epochs(9), {.newest = 1, .every_minutes = 4}), (Paths{"2", "3", "4", "6", "7", "8"}));
  EXPECT_EQ(superfluous({}, {.newest = 2}), Paths());
}

TEST(retention, what_was_kept_for_its_time_stays_when_asked_again) {
  const Retention rule = {.newest = 1, .every_minutes = 4};
  std::vector<CheckpointInfo> all = epochs(9);
  const Paths gone = superfluous(all, rule);
  std::erase_if(all, [&](const auto& c) { return std::find(gone.begin(), gone.end(), c.path) != gone.end(); });
  EXPECT_EQ(superfluous(all, rule), Paths());
}

TEST(retention, keeps_the_best_by_each_statistic) {
  std::vector<CheckpointInfo> all = epochs(6);
  const double errors[] = {5, 1, 4, 2, 3, 9};
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].best.push_back({.name = "min-error", .value = errors[i], .keep = 2});
    if (i < 3) all[i].best.push_back({.name = "max-score", .value = errors[i], .is_max = true});
  }
  EXPECT_EQ(superfluous(all, {.newest = 1}), (Paths{"3", "5"}));
}

}  // namespace
}  // namespace martello
