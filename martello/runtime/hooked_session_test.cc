#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/random.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/hooked_session.h>

#include <gtest/gtest.h>

#include <functional>

namespace martello {
namespace {

using testing::error_of;

struct Hook : RunHook {
  std::string name;
  std::function<void(RunContext&)> before = [](RunContext&) {}, after = [](RunContext&) {};
  explicit Hook(std::string n) : name(std::move(n)) {}
  void before_run(RunContext& c) override { before(c); }
  void after_run(RunContext& c) override { after(c); }
  std::string hook_name() const override { return name; }
};

TEST(HookedSession, hooks_run_in_order_around_one_run_and_only_the_callers_values_return) {
  GraphScope g;
  auto v = get_variable("v", {.shape = {}, .initializer = zeros()});
  auto up = assign_add(v, 1);
  auto y = v * 10;
  Session s;
  Hook a("a"), b("b");
  std::vector<std::string> order;
  std::vector<float> seen;
  a.before = [&](RunContext& c) { order.push_back("before a"), c.fetch(v); };
  b.before = [&](RunContext& c) {
    order.push_back("before b");
    EXPECT_EQ(c.fetch(y), 0);
    EXPECT_EQ(c.fetch(v), 1);
  };
  a.after = [&](RunContext& c) { order.push_back("after a"), seen.push_back(c.value().scalar<float>()); };
  b.after = [&](RunContext& c) { order.push_back("after b"), seen.push_back(c.value(1).scalar<float>()); };
  HookedSession hooked(s, {&a, &b});
  const auto values = hooked.run({up, y});
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(order, (std::vector<std::string>{"before a", "before b", "after a", "after b"}));
  EXPECT_EQ(seen, (std::vector<float>{0, 0})) << "hooks see values from before the update";
  EXPECT_EQ(s.eval(v).scalar<float>(), 1);
}

TEST(HookedSession, a_hook_may_feed_but_not_twice) {
  GraphScope g;
  auto x = placeholder({}, f32, "x");
  auto y = x + 1;
  Session s;
  Hook a("first"), b("second");
  a.before = [&](RunContext& c) { c.feed(x, 4.f); };
  HookedSession one(s, {&a});
  EXPECT_EQ(one.run(y)[0].scalar<float>(), 5);
  EXPECT_THROW(one.run(y, {{x, 1.f}}), InvalidArgument);
  b.before = a.before;
  HookedSession two(s, {&a, &b});
  const std::string text = error_of<InvalidArgument>([&] { two.run(y); });
  for (const char* part : {"'x'", "first", "second"}) EXPECT_CONTAINS(text, part);
}

TEST(HookedSession, a_requested_stop_lets_the_run_finish_and_refuses_the_next) {
  GraphScope g;
  auto v = get_variable("v", {.shape = {}, .initializer = zeros()});
  auto up = assign_add(v, 1);
  Session s;
  Hook a("a"), b("b");
  int after_b = 0;
  a.after = [](RunContext& c) { c.request_stop(); };
  b.after = [&](RunContext&) { ++after_b; };
  HookedSession hooked(s, {&a, &b});
  EXPECT_FALSE(hooked.should_stop());
  hooked.run(up);
  EXPECT_TRUE(hooked.should_stop());
  EXPECT_EQ(after_b, 1);
  EXPECT_THROW(hooked.run(up), FailedPrecondition);
  EXPECT_EQ(s.eval(v).scalar<float>(), 1);
}

TEST(HookedSession, value_is_counted_per_hook_and_checked) {
  GraphScope g;
  auto x = constant(3);
  Session s;
  Hook a("asks"), b("does not");
  a.before = [&](RunContext& c) { c.fetch(x); };
  b.after = [](RunContext& c) { EXPECT_THROW(c.value(), InvalidArgument); };
  a.after = [](RunContext& c) {
    EXPECT_THROW(c.value(1), InvalidArgument);
    EXPECT_EQ(c.value().scalar<float>(), 3);
  };
  HookedSession hooked(s, {&a, &b});
  hooked.run({});
}

TEST(HookedSession, hooks_may_use_the_plain_session_and_see_the_callers_request) {
  GraphScope g;
  auto x = constant(3);
  square(x, "y");
  Session s;
  Hook a("a");
  a.before = [&](RunContext& c) {
    EXPECT_EQ(c.sess().eval(x).scalar<float>(), 3);
    EXPECT_EQ(c.original_fetches().list().size(), 1u);
  };
  HookedSession hooked(s, {&a});
  EXPECT_EQ(hooked.run("y")[0].scalar<float>(), 9);
}

TEST(HookedSession, a_trace_is_made_when_any_hook_asks) {
  GraphScope g;
  auto y = square(placeholder({1}, f32, "x"));
  Session s;
  Hook a("a"), b("b");
  size_t events = 0;
  a.before = [](RunContext& c) { c.trace(); };
  b.after = [&](RunContext& c) { events = c.run_trace().events.size(); };
  HookedSession hooked(s, {&a, &b});
  hooked.run(y, {{"x", HostTensor({1}, f32)}});
  EXPECT_EQ(events, 1u);
}

TEST(HookedSession, plain_runs_do_not_shift_the_random_stream_of_hooked_ones) {
  GraphScope g;
  auto r = random_uniform({4});
  const auto draw = [&](int plain) {
    Session s;
    HookedSession hooked(s, {});
    HostTensors drawn;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < plain; ++k) s.run(r);
      drawn.push_back(hooked.run(r)[0]);
    }
    return drawn;
  };
  const auto quiet = draw(0), busy = draw(2);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(quiet[i].same_bits(busy[i]));
  EXPECT_FALSE(quiet[0].same_bits(quiet[1]));
}

TEST(HookedSession, an_error_in_the_run_passes_and_after_run_is_not_called) {
  GraphScope g;
  auto x = placeholder({1}, i32, "x");
  auto y = floor_div(x, x);
  Session s;
  Hook a("a");
  int after = 0;
  a.after = [&](RunContext&) { ++after; };
  HookedSession hooked(s, {&a});
  EXPECT_THROW(hooked.run(y, {{x, HostTensor({1}, i32)}}), InvalidArgument);
  EXPECT_EQ(after, 0);
  EXPECT_EQ(hooked.run(y, {{x, HostTensor::full({1}, i32, 3)}})[0].data<int32_t>()[0], 1);
  EXPECT_EQ(after, 1);
}

}  // namespace
}  // namespace martello
