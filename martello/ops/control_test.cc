#include <martello/base/internal/test_text.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/compare.h>
#include <martello/ops/control.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reduce.h>
#include <martello/runtime/session.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <stdexcept>

namespace martello::testing {
namespace {

HostTensors same(const HostTensors& in) { return in; }

std::string error_of_run(Session& session, const Fetches& fetches, const Feeds& feeds = {}) {
  return error_of([&] { session.run(fetches, feeds); });
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_CONTAINS(text, part);
}

HostTensors rows_sums(const HostTensors& in) {
  HostTensor sums(Shape(in[0].shape()[0]), in[0].dtype());
  for (int64_t i = 0; i < in[0].num_elements(); ++i) {
    const int64_t row = i / in[0].shape()[1];
    sums.set(row, sums.at(row) + in[0].at(i));
  }
  return {sums, in[0]};
}

OP_TEST(host_call,
        {.label = "two outputs",
         .inputs = {randn({4, 3})},
         .build =
             [](TensorList x) {
               return host_call(x, {{{kUnknown}, x[0].dtype()}, {x[0].shape(), x[0].dtype()}}, rows_sums, "sums");
             },
         .reference = rows_sums},
        {.label = "no inputs",
         .build =
             [](TensorList) {
               return host_call({}, {{{2}, i64}}, [](const HostTensors&) {
                 return HostTensors{HostTensor::of<int64_t>({4, 5})};
               });
             },
         .reference =
             [](const HostTensors&) {
               return HostTensors{HostTensor::of<int64_t>({4, 5})};
             }},
        {.label = "nothing in it",
         .inputs = {randn({0, 3})},
         .build =
             [](TensorList x) {
               return host_call(x, {{x[0].shape(), x[0].dtype()}}, same);
             },
         .reference = same});
OP_TEST(print,
        {.label = "passes x",
         .inputs = {randn({4, 3})},
         .build = [](TensorList x) { return TensorList{print(x[0] * 1, {.first_n = 0})}; },
         .reference = same},
        {.label = "scalar",
         .inputs = {randn({})},
         .build = [](TensorList x) { return TensorList{print(x[0], {.first_n = 0})}; },
         .reference = same},
        {.label = "bools",
         .inputs = {booleans({7})},
         .build = [](TensorList x) { return TensorList{print(x[0], {.first_n = 0})}; },
         .reference = same});
OP_TEST(assert_that, {.label = "true",
                      .inputs = {randn({5})},
                      .build =
                          [](TensorList x) {
                            ControlDependencies after({assert_that(x[0] < 100, "small", {x[0]})});
                            return TensorList{x[0] * 2};
                          },
                      .reference =
                          [](const HostTensors& x) {
                            return HostTensors{map_elements(
                                x, [](const std::vector<double>& v) { return v[0] * 2; }, x[0].dtype())};
                          }});
OP_TEST(placeholder_with_default,
        {.label = "default",
         .inputs = {randn({4, 3})},
         .build = [](TensorList x) { return TensorList{placeholder_with_default(x[0])}; },
         .reference = same},
        {.label = "default of a wider shape",
         .inputs = {randn({4, 3})},
         .build =
             [](TensorList x) {
               return TensorList{placeholder_with_default(x[0], {kUnknown, 3}) * 1};
             },
         .reference = same});

OP_REFUSES(host_call, an_unknown_dimension_from_nowhere,
           [] {
             host_call(placeholder({2}, f32, "x"), {{{2, kUnknown}, f32}}, same, "call");
           },
           {"[host_call 'call']", "dimension 1", "f32[2, ?]"})
OP_REFUSES(host_call, a_null_function,
           [] {
             host_call({}, {{{2}, f32}}, HostFunction(), "call");
           },
           {"[host_call 'call']", "function is null"})
OP_REFUSES(host_call, no_outputs, [] { host_call(placeholder({2}, f32, "x"), {}, same, "call"); },
           {"[host_call 'call']", "no outputs"})
OP_REFUSES(assert_that, a_condition_of_floats, [] { assert_that(placeholder({2}, f32, "x"), "x"); },
           {"assert_that", "bool", "f32[2]"})
OP_REFUSES(placeholder_with_default, a_shape_that_x_does_not_fit,
           [] { placeholder_with_default(placeholder({2}, f32, "x"), {3}); },
           {"placeholder_with_default", "[2]", "[3]"})

TEST(host_call, results_are_compared_with_what_was_declared) {
  const auto result_of = [](HostTensors results) {
    GraphScope scope;
    const auto give = [results](const HostTensors&) { return results; };
    const TensorList y = host_call(placeholder({2}, f32, "x"), {{{2}, f32}}, give, "call");
    Session session;
    return error_of_run(session, y, {{"x", HostTensor(Shape(2), f32)}});
  };
  expect_parts(result_of({}), {"[host_call 'call']", "0 tensors but 1", "control_test.cc:"});
  expect_parts(result_of({HostTensor(Shape(3), f32)}), {"[host_call 'call']", "f32[3]", "f32[2]"});
  expect_parts(result_of({HostTensor(Shape(2), f64)}), {"[host_call 'call']", "f64[2]", "f32[2]"});
}

TEST(host_call, errors_of_the_function_say_where_they_came_from) {
  GraphScope scope;
  const auto not_found = [](const HostTensors&) -> HostTensors { throw NotFound("[dictionary] no word."); };
  const auto plain = [](const HostTensors&) -> HostTensors { throw std::runtime_error("disk on fire"); };
  const TensorList a = host_call({}, {{{2}, f32}}, not_found, "first"),
                   b = host_call({}, {{{2}, f32}}, plain, "second");
  Session session;
  EXPECT_THROW(session.run(a), NotFound) << "keeps its type";
  expect_parts(error_of_run(session, a), {"no word", "host function 'first'", "while running 'first'"});
  expect_parts(error_of_run(session, b), {"disk on fire", "[host_call 'second']", "while running 'second'"});
}

TEST(host_call, runs_once_in_a_run_and_is_not_merged) {
  GraphScope scope;
  int calls = 0;
  const HostFunction count("count", [&](const HostTensors&) { return HostTensors{HostTensor(++calls)}; });
  const Tensor a = host_call({}, {{{}, i32}}, count)[0], b = host_call({}, {{{}, i32}}, count)[0];
  Session session;
  session.run({a, a + 1, a + 2});
  EXPECT_EQ(calls, 1);
  session.run({a, b});
  EXPECT_EQ(calls, 3);
}

TEST(host_call, a_batch_dimension_is_that_of_the_input) {
  GraphScope scope;
  const Tensor x = placeholder({kUnknown, 3}, f32, "x");
  const Tensor sums = host_call(x, {{{kUnknown}, f32}, {x.shape(), f32}}, rows_sums)[0];
  EXPECT_EQ(sums.shape(), x.shape().slice(0, 1));
  Session session;
  for (int64_t n : {2, 5}) EXPECT_EQ(session.eval(sums, {{x, HostTensor(Shape(n, 3), f32)}}).shape(), Shape(n));
}

TEST(print, writes_to_the_log) {
  Log log;
  GraphScope scope;
  const Tensor y = print(placeholder({kUnknown}, i32, "x"), {.message = "labels", .summarize = 3});
  Session session;
  session.run(y, {{"x", HostTensor::of<int32_t>({1, 2, 3, 4})}});
  session.run(y, {{"x", HostTensor::of<int32_t>({7})}});
  EXPECT_EQ(log.lines, (std::vector<std::string>{"labels: i32[4] 1 2 3 ...", "labels: i32[1] 7"}));
}

TEST(print, stops_after_first_n) {
  Log log;
  GraphScope scope;
  const Tensor y = print(constant(2.5), {.first_n = 2}, "learning_rate");
  Session session;
  for (int i = 0; i < 5; ++i) session.run(y);
  EXPECT_EQ(log.lines, std::vector<std::string>(2, "learning_rate: f32[] 2.5"));
}

TEST(print, is_silent_when_nothing_needs_it) {
  Log log;
  GraphScope scope;
  const Tensor x = constant(1);
  print(x);
  Session().run(x + 1);
  EXPECT_TRUE(log.lines.empty());
}

TEST(assert_that, fails_with_message_place_and_data) {
  GraphScope scope;
  const Tensor x = placeholder({3}, f32, "x");
  const Operation check = assert_that(x < 2, "x must be small", {x, reduce_sum(x)}, "check");
  Session session;
  session.run(check, {{x, HostTensor::of<float>({1, 0, 1})}});
  expect_parts(error_of_run(session, check, {{x, HostTensor::of<float>({1, 2.5, 3})}}),
               {"[assert_that 'check'] x must be small", "Element 1 of bool[3]", "f32[3] 1 2.5 3", "f32[] 6.5",
                "control_test.cc:"});
}

TEST(assert_that, leaves_variables_as_they_were) {
  GraphScope scope;
  const Variable v = raw_variable("v", {.initializer = zeros(), .trainable = false});
  const Tensor x = placeholder({}, f32, "x");
  const Operation update = assign_add(v, x), check = assert_that(x < 2, "");
  Session session;
  session.run({update, check}, {{x, 1.0f}});
  EXPECT_THROW(session.run({update, check}, {{x, 3.0f}}), InvalidArgument);
  EXPECT_EQ(session.get(v).scalar<float>(), 1);
}

TEST(placeholder_with_default, is_its_default_unless_fed) {
  GraphScope scope;
  const Tensor x = placeholder_with_default(constant(HostTensor::of<float>({1, 2})), {kUnknown}, "x");
  const Tensor y = x * 10;
  EXPECT_EQ(x.dim(0), kUnknown);
  Session session;
  EXPECT_TRUE(session.eval(y).same_bits(HostTensor::of<float>({10, 20})));
  EXPECT_TRUE(session.eval(y, {{"x", HostTensor::of<float>({3})}}).same_bits(HostTensor::of<float>({30})));
  EXPECT_THROW(session.eval(y, {{"x", HostTensor(Shape(1, 1), f32)}}), InvalidArgument);
}

}  // namespace
}  // namespace martello::testing
