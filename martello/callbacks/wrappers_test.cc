// How wrappers forward hooks is compared with tensorpack in tests/oracle.
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/wrappers.h>
#include <martello/loop/internal/fake_training.h>

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

TEST(Wrappers, a_factory_says_what_it_reads_and_puts) {
  const CallbackFactory factory({.needs = {"error"}, .provides = {"best"}});
  EXPECT_EQ(factory.needs(), std::vector<std::string>{"error"});
  EXPECT_EQ(factory.provides(), std::vector<std::string>{"best"});
}

struct CountRuns : RunHook {
  void before_run(RunContext&) override { ++before; }
  void after_run(RunContext&) override { ++after; }
  std::string hook_name() const override { return "CountRuns"; }
  int before = 0, after = 0;
};

TEST(Wrappers, a_hook_may_be_a_callback) {
  const auto hook = make<CountRuns>();
  testing::FakeTraining t({}, {HookToCallback(hook)});
  t.start();
  t.epoch(3);
  EXPECT_EQ(hook->before, 3);
  EXPECT_EQ(hook->after, 3);
  EXPECT_FALSE(HookToCallback(hook).chief_only());
  EXPECT_EQ(HookToCallback(hook).name(), "CountRuns");
  EXPECT_CONTAINS(error_of([] { HookToCallback{nullptr}; }), "null hook");
}

}  // namespace
}  // namespace martello
