// How wrappers forward hooks is compared with tensorpack in tests/oracle.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/wrappers.h>

#include <gtest/gtest.h>

namespace martello {
namespace {

using testing::error_of;

struct Saver : Callback {
  std::vector<std::string> needs() const override { return {"error"}; }
};

TEST(Wrappers, are_what_they_wrap) {
  Saver saver;
  saver.set_chief_only(false);
  const PeriodicTrigger wrapped(std::move(saver), {.epochs = 3});
  EXPECT_EQ(wrapped.name(), "PeriodicTrigger(Saver)");
  EXPECT_EQ(wrapped.name_scope(), "Saver");
  EXPECT_FALSE(wrapped.chief_only());
  EXPECT_EQ(wrapped.needs(), std::vector<std::string>{"error"});
  EXPECT_EQ(wrapped.inner_callbacks().size(), 1u);
}

TEST(Wrappers, refuse_what_never_applies) {
  const std::string text = error_of([] { PeriodicTrigger(Saver(), {}); });
  for (const char* part : {"[PeriodicTrigger]", "never applies", "wrappers_test.cc"}) EXPECT_CONTAINS(text, part);
  EXPECT_CONTAINS(error_of([] { PeriodicCallback(Saver(), {}); }), "[PeriodicCallback]");
  EXPECT_CONTAINS(error_of([] { PeriodicCallback(Saver(), {.epochs = 1, .before_train = true}); }), "before_train");
  EXPECT_CONTAINS(error_of([] { PeriodicTrigger(Saver(), {.steps = -1}); }), "-1 steps");
  EXPECT_CONTAINS(error_of([] { EnableCallbackIf(Saver(), {}); }), "predicate is empty");
  EXPECT_CONTAINS(error_of([] { PeriodicTrigger(nullptr, {.steps = 1}); }), "null callback");
  EXPECT_NO_THROW(PeriodicTrigger(Saver(), {.before_train = true}));
}

TEST(Wrappers, on_all_ranks_clears_chief_only) {
  EXPECT_TRUE(Saver().chief_only());
  EXPECT_FALSE(on_all_ranks(Saver())->chief_only());
  EXPECT_THROW(on_all_ranks(nullptr), InvalidArgument);
}

}  // namespace
}  // namespace martello
