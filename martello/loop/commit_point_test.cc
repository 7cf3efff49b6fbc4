#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/state.h>
#include <martello/loop/commit_point.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;
using testing::Log;
using Lines = std::vector<std::string>;

TEST(CommitPoint, writes_at_the_commit_in_the_order_of_requests) {
  CommitPoint point;
  Lines lines;
  point.request("a", [&](const CommitPoint::Commit& c) { lines.push_back(str("a ", c.position.steps_done)); });
  point.request("b", [&](const CommitPoint::Commit& c) { lines.push_back(str("b ", join(c.tags))); });
  point.tag("min-error");
  point.tag("min-error");
  EXPECT_TRUE(lines.empty());
  EXPECT_TRUE(point.is_pending());
  point.commit({.epoch_num = 1, .steps_done = 3, .phase = Phase::trigger_epoch});
  EXPECT_EQ(lines, (Lines{"a 3", "b min-error"}));
  point.commit({});
  EXPECT_EQ(lines.size(), 2u) << "each request is written once";
}

TEST(CommitPoint, a_second_request_of_one_name_replaces_the_first) {
  CommitPoint point;
  Lines lines;
  point.request("saver", [&](const auto&) { lines.push_back("first"); });
  point.request("saver", [&](const auto&) { lines.push_back("second"); });
  point.commit({});
  EXPECT_EQ(lines, (Lines{"second"}));
}

TEST(CommitPoint, a_tag_without_a_request_is_warned_about_and_gone) {
  Log log;
  CommitPoint point;
  point.tag("min-error");
  point.commit({.epoch_num = 4, .phase = Phase::trigger_epoch});
  ASSERT_EQ(log.lines.size(), 1u);
  for (const char* part : {"'min-error'", "trigger_epoch", "epoch 4"}) EXPECT_CONTAINS(log.lines[0], part);
  Lines tags;
  point.request("a", [&](const CommitPoint::Commit& c) { tags = c.tags; });
  point.commit({});
  EXPECT_TRUE(tags.empty());
}

TEST(CommitPoint, one_that_fails_does_not_keep_others_from_writing) {
  CommitPoint point;
  int written = 0;
  point.request("bad", [](const auto&) { throw InvalidArgument("[disk] full."); });
  point.request("good", [&](const auto&) { ++written; });
  const std::string text = error_of<InvalidArgument>([&] { point.commit({.phase = Phase::trigger_step}); });
  EXPECT_CONTAINS(text, "[disk] full.");
  EXPECT_CONTAINS(text, "while 'bad' committed after trigger_step");
  EXPECT_EQ(written, 1);
}

TEST(CommitPoint, cancel_forgets_and_an_empty_writer_is_refused) {
  CommitPoint point;
  point.request("a", [](const auto&) { FAIL(); });
  point.cancel();
  point.commit({});
  EXPECT_CONTAINS(error_of([&] { point.request("b", {}); }), "'b'");
}

CommitPoint with_two_directories() {
  CommitPoint point;
  point.add_directory("a", {});
  point.add_directory("b", {});
  return point;
}

TEST(CommitPoint, what_is_pending_goes_on_in_a_resumed_run) {
  CommitPoint point = with_two_directories(), resumed = with_two_directories();
  point.request_checkpoint("b");
  point.tag_best({.name = "max-c", .value = 2, .is_max = true, .keep = 3, .is_best = false, .dir = "b"});
  resumed.request_checkpoint("a");
  restore_state(resumed, save_state(point));
  EXPECT_EQ(resumed.pending_checkpoints(), Lines{"b"});
  std::vector<BestTag> tags;
  resumed.set_checkpoint_writer([&](const CommitPoint::Commit& c) { tags = c.best; });
  resumed.commit({});
  ASSERT_EQ(tags.size(), 1u);
  EXPECT_EQ(tags[0].name + " in " + tags[0].dir, "max-c in b");
  EXPECT_EQ(tags[0].value, 2);
  EXPECT_EQ(tags[0].keep, 3);
  EXPECT_TRUE(tags[0].is_max && !tags[0].is_best);
}

TEST(CommitPoint, reads_what_a_version_without_tags_has_saved) {
  State old;
  std::vector<std::string> requested = {"a"};
  old("requested", requested);
  CommitPoint point = with_two_directories();
  restore_state(point, old.bytes());
  EXPECT_EQ(point.pending_checkpoints(), Lines{"a"});
}

TEST(CommitPoint, all_names_of_a_directory_mean_it) {
  const testing::TestDir dir;
  CommitPoint point;
  point.add_directory(dir.path(), {.newest = 3});
  point.add_directory(dir.path() + "/.", {.newest = 5});
  ASSERT_EQ(point.directories().size(), 1u);
  EXPECT_EQ(point.directories()[0].keep.newest, 5);
  point.request_checkpoint(dir.path() + "/./");
  EXPECT_EQ(point.pending_checkpoints(), Lines{dir.path()});
}

TEST(CommitPoint, a_tag_that_could_not_be_written_is_told_to_its_tagger) {
  CommitPoint point = with_two_directories();
  Lines lost;
  for (const char* dir : {"a", "b"})
    point.add_tagger({.who = "MinSaver", .dir = dir, .name = "min-e", .lost = [&lost, dir](double value) {
                        lost.push_back(str(dir, " ", value));
                      }});
  point.tag_best({.name = "min-e", .value = 1, .dir = "a"});
  point.tag_best({.name = "min-e", .value = 2, .dir = "b"});
  point.lose();
  EXPECT_EQ(lost, (Lines{"a 1", "b 2"}));
  EXPECT_CONTAINS(error_of([&] { point.add_tagger({.who = "MaxSaver", .dir = "b", .name = "min-e"}); }),
                  "[MaxSaver] and [MinSaver] would both make 'b/min-e.safetensors'");
}

}  // namespace
}  // namespace martello
