#include <martello/base/internal/test_text.h>
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

}  // namespace
}  // namespace martello
