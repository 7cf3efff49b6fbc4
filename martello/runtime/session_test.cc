#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/activation.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/losses.h>
#include <martello/ops/matmul.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/ops/variable.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace martello {
namespace {

using testing::error_of;

HostTensor floats(std::initializer_list<float> v) { return HostTensor::of<float>(v); }

TEST(Session, fetches_and_feeds_by_name_or_handle) {
  GraphScope g;
  auto x = placeholder({2}, f32, "x");
  auto y = square(x, "y");
  Session s;
  const auto by_handle = s.run({y}, {{x, floats({2, 3})}});
  const auto by_name = s.run({"y"}, {{"x", floats({2, 3})}});
  EXPECT_EQ(by_handle[0].data<float>()[1], 9);
  EXPECT_TRUE(by_handle[0].same_bits(by_name[0]));
}

TEST(Session, runs_only_what_is_asked_for) {
  GraphScope g;
  auto x = placeholder({1}, f32, "x");
  placeholder({1}, f32, "unused");
  auto y = x + 1;
  log(x);
  Session s;
  EXPECT_EQ(s.eval(y, {{x, floats({1})}}).data<float>()[0], 2);
}

TEST(Session, any_tensor_can_be_fed) {
  GraphScope g;
  auto x = placeholder({1}, f32, "x");
  auto h = exp(x);
  auto y = h * 2;
  Session s;
  EXPECT_EQ(s.eval(y, {{h, floats({5})}}).data<float>()[0], 10);
}

TEST(Session, a_missing_feed_names_the_placeholder) {
  GraphScope g;
  auto y = placeholder({kUnknown, 3}, f32, "image") * 2;
  Session s;
  const std::string text = error_of<InvalidArgument>([&] { s.run(y); });
  EXPECT_CONTAINS(text, "'image'");
  EXPECT_CONTAINS(text, "session_test.cc");
}

TEST(Session, an_unknown_name_gives_near_misses) {
  GraphScope g;
  square(placeholder({1}, f32, "x"), "probability");
  Session s;
  const std::string text = error_of<NotFound>([&] { s.run("probabilty"); });
  EXPECT_CONTAINS(text, "'probability'");
}

TEST(Session, variables_keep_their_values_between_runs) {
  GraphScope g;
  auto v = get_variable("v", {.shape = {2}, .initializer = zeros()});
  auto up = assign_add(v, 1);
  Session s;
  s.run(up);
  s.run(up);
  EXPECT_EQ(s.eval(v).data<float>()[1], 2);
  EXPECT_EQ(s.get("v").data<float>()[0], 2);
  s.set(v, floats({7, 8}));
  EXPECT_EQ(s.eval(v).data<float>()[1], 8);
}

TEST(Session, two_sessions_of_one_graph_have_their_own_variables_with_the_same_first_values) {
  GraphScope g;
  auto v = get_variable("v", {.shape = {64}, .initializer = random_normal_init(1)});
  Session a, b;
  EXPECT_TRUE(a.eval(v).same_bits(b.eval(v)));
  a.set(v, HostTensor({64}, f32));
  EXPECT_FALSE(a.eval(v).same_bits(b.eval(v)));
}

TEST(Session, plans_are_cached_by_shapes_and_bounded) {
  GraphScope g;
  auto x = placeholder({kUnknown}, f32, "x");
  auto y = reduce_sum(x);
  Session s(g.graph(), {.plan_cache = 3});
  for (int64_t n = 1; n <= 6; ++n)
    EXPECT_EQ(s.eval(y, {{x, HostTensor::full({n}, f32, 1)}}).scalar<float>(), static_cast<float>(n));
  EXPECT_EQ(s.cached_plans(), 3u);
  EXPECT_EQ(s.eval(y, {{x, HostTensor::full({1}, f32, 1)}}).scalar<float>(), 1);
}

TEST(Session, a_prepared_run_follows_changing_shapes) {
  GraphScope g;
  auto x = placeholder({kUnknown, 2}, f32, "x");
  auto y = reduce_sum(x, {.axes = 0});
  Session s;
  auto run = s.prepare(y, {x});
  for (int64_t n : {3, 5, 3, 1, 5}) {
    run.feed(0, HostTensor::full({n, 2}, f32, 1));
    run.run();
    EXPECT_EQ(run.value(0).data<float>()[1], static_cast<float>(n));
  }
}

TEST(Session, a_kept_value_is_not_overwritten_by_the_next_run) {
  GraphScope g;
  auto x = placeholder({1}, f32, "x");
  auto y = x * 1.5;
  Session s;
  auto run = s.prepare(y, {x});
  run.feed(0, floats({2}));
  run.run();
  const HostTensor kept = run.value(0);
  run.feed(0, floats({4}));
  run.run();
  EXPECT_EQ(kept.data<float>()[0], 3);
  EXPECT_EQ(run.value(0).data<float>()[0], 6);
}

TEST(Session, many_threads_run_at_once_and_agree) {
  GraphScope g;
  auto x = placeholder({kUnknown, 16}, f32, "x");
  auto w = get_variable("w", {.shape = {16, 16}, .initializer = random_normal_init(0.3)});
  auto y = reduce_sum(tanh(matmul(tanh(matmul(x, w)), w)));
  Session s;
  std::vector<float> expected;
  for (int64_t n = 1; n <= 4; ++n)
    expected.push_back(s.eval(y, {{x, HostTensor::full({n, 16}, f32, 0.1)}}).scalar<float>());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      auto run = s.prepare(y, {x});
      for (int i = 0; i < 50; ++i) {
        const int64_t n = (t + i) % 4 + 1;
        run.feed(0, HostTensor::full({n, 16}, f32, 0.1));
        run.run();
        if (run.value(0).scalar<float>() != expected[static_cast<size_t>(n - 1)]) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, concurrent_updates_are_not_lost) {
  GraphScope g;
  auto v = get_variable("v", {.shape = {}, .dtype = i64, .initializer = zeros(), .trainable = false});
  auto up = assign_add(v, 1);
  Session s;
  s.run(up);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto run = s.prepare(up);
      for (int i = 0; i < 200; ++i) run.run();
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(s.eval(v).scalar<int64_t>(), 801);
}

TEST(Session, random_ops_differ_from_run_to_run_and_agree_between_sessions) {
  GraphScope g;
  auto r = random_uniform({8}), q = random_uniform({8});
  Session a, b;
  const auto first = a.run({r, q});
  EXPECT_FALSE(first[0].same_bits(first[1]));
  EXPECT_FALSE(first[0].same_bits(a.eval(r)));
  EXPECT_TRUE(first[0].same_bits(b.eval(r)));
}

TEST(Session, a_trace_lists_every_step) {
  GraphScope g;
  auto x = placeholder({256, 256}, f32, "x");
  auto y = reduce_sum(matmul(x, x, "product"));
  Session s;
  RunTrace trace;
  s.run_traced(y, {{x, HostTensor({256, 256}, f32)}}, trace);
  ASSERT_EQ(trace.events.size(), 2u);
  const TraceEvent &product = trace.events[0], &sum = trace.events[1];
  EXPECT_GT(product.library_us, 0);
  EXPECT_LE(product.library_us, product.duration_us);
  EXPECT_EQ(sum.library_us, 0);
  EXPECT_NE(trace.chrome_json().find("\"product\""), std::string::npos);
  EXPECT_NE(trace.table().find("matmul"), std::string::npos);
}

TEST(Session, a_trace_is_json_whatever_nodes_are_called) {
  RunTrace trace;
  trace.events.push_back({.node = "a\x01\"\\\xff", .op = "square", .device = "cpu:0"});
  EXPECT_CONTAINS(trace.chrome_json(), "{\"name\":\"a\\u0001\\\"\\\\\xef\xbf\xbd\",\"cat\":\"square\"");
}

// Sizes that nobody knew when the graph was built: a label of one sample would be compared with three.
TEST(Session, losses_refuse_runs_in_which_shapes_differ) {
  GraphScope g;
  const Tensor x = placeholder({kUnknown, kUnknown}, f32, "x"), y = placeholder({kUnknown, kUnknown}, f32, "y");
  const auto ones_of = [](Shape shape) { return HostTensor::full(std::move(shape), f32, 1); };
  Session session;
  for (const Tensor loss : {mean_squared_error(x, y, "mse"), l1_loss(x, y, "l1"), huber_loss(x, y, "huber"),
                            sigmoid_cross_entropy(x, y, "sigmoid"), softmax_cross_entropy(x, y, "softmax"),
                            weighted_sigmoid_cross_entropy(x, y, 2, "weighted")}) {
    session.eval(loss, {{x, ones_of({3, 2})}, {y, ones_of({3, 2})}});
    for (const Shape& other : {Shape(1, 2), Shape(3, 1)}) {
      const std::string text = error_of([&] { session.eval(loss, {{x, ones_of({3, 2})}, {y, ones_of(other)}}); });
      for (const std::string& part : {str("[shaped_like '", loss.name().substr(0, 2)), other.str(),
                                      std::string("[3, 2]"), std::string("session_test.cc")})
        EXPECT_CONTAINS(text, part);
    }
  }
}

TEST(Session, passes_can_be_switched_off_by_name_only) {
  GraphScope g;
  auto y = square(placeholder({2}, f32, "x") + 1);
  Session s(g.graph(), {.disabled_passes = {"fuse", "cse"}});
  EXPECT_EQ(s.eval(y, {{"x", floats({1, 2})}}).data<float>()[1], 9);
  Session typo(g.graph(), {.disabled_passes = {"fuze"}});
  EXPECT_THROW(typo.run(y, {{"x", floats({1, 2})}}), InvalidArgument);
}

TEST(Session, a_fetched_value_is_not_overwritten_by_the_last_step) {
  GraphScope g;
  auto x = placeholder({64}, f32, "x");
  auto y = square(x);
  auto z = round(y);
  Session s(g.graph(), {.disabled_passes = {"fuse"}});
  const auto values = s.run({y, z}, {{x, HostTensor::full({64}, f32, 1.5)}});
  EXPECT_EQ(values[0].at(63), 2.25);
  EXPECT_EQ(values[1].at(63), 2);
}

TEST(Session, an_error_in_a_kernel_names_node_device_and_line) {
  GraphScope g;
  auto x = placeholder({2}, i32, "x");
  auto y = floor_div(constant(HostTensor::of<int32_t>({1, 2})), x, "quotient");
  Session s;
  const std::string text = error_of([&] { s.run(y, {{x, HostTensor::of<int32_t>({1, 0})}}); });
  for (const char* part : {"quotient", "cpu:0", "session_test.cc"}) EXPECT_CONTAINS(text, part);
}

}  // namespace
}  // namespace martello
