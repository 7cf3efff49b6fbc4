#include "wrong.h"

namespace martello::testing {
namespace {

struct FeedTwice : RunHook {
  Tensor to;
  explicit FeedTwice(Tensor t) : to(t) {}
  void before_run(RunContext& context) override { context.feed(to, HostTensor({2}, f32)); }
  std::string hook_name() const override { return "feed_twice"; }
};

WRONG_PROGRAM(an_input_without_a_value, "[placeholder 'image']", "f32[2, 3]", "Add it to the feeds") {
  HERE const Tensor x = input({2, 3}, f32, "image");
  Session().eval(relu(x));
}

WRONG_PROGRAM(a_value_of_another_shape, "[feed 'image']", "f32[?, 3]", "f32[2, 4]") {
  HERE const Tensor x = input({kUnknown, 3}, f32, "image");
  Session().eval(relu(x), {{x, HostTensor({2, 4}, f32)}});
}

WRONG_PROGRAM(a_value_of_another_rank, "[feed 'image']", "f32[?, 3]", "f32[3]") {
  HERE const Tensor x = input({kUnknown, 3}, f32, "image");
  Session().eval(relu(x), {{"image", HostTensor({3}, f32)}});
}

WRONG_PROGRAM(a_value_of_another_dtype, "[feed 'image']", "f32[2]", "f64[2]") {
  HERE const Tensor x = input({2}, f32, "image");
  Session().eval(relu(x), {{x, HostTensor::of<double>({1, 2})}});
}

WRONG_PROGRAM(values_of_shapes_that_do_not_fit_each_other, "[add 'sum']", "f32[2]", "f32[3]") {
  const Tensor a = input({kUnknown}, f32, "a"), b = input({kUnknown}, f32, "b");
  HERE const Tensor sum = add(a, b, "sum");
  Session().eval(sum, {{a, HostTensor({2}, f32)}, {b, HostTensor({3}, f32)}});
}

WRONG_PROGRAM(one_input_fed_twice, "[feed 'image']", "twice") {
  const Tensor x = input({2}, f32, "image");
  HERE Session().eval(relu(x), {{x, HostTensor({2}, f32)}, {"image", HostTensor({2}, f32)}});
}

WRONG_PROGRAM(a_feed_of_an_operation, "[session]", "'nothing'", "(group)", "cannot be fed") {
  const Operation op = group({}, "nothing");
  HERE Session().run(op, {{op, HostTensor({2}, f32)}});
}

WRONG_PROGRAM(a_feed_of_an_operation_by_name, "'nothing'", "0 outputs") {
  const Operation op = group({}, "nothing");
  HERE Session().run(op, {{"nothing", HostTensor({2}, f32)}});
}

WRONG_PROGRAM(a_feed_of_an_unknown_name, "'image'", "Did you mean 'tower0/image'") {
  const Tensor x = input({2}, f32, "tower0/image");
  HERE Session().eval(relu(x), {{"image", HostTensor({2}, f32)}});
}

WRONG_PROGRAM(a_fetch_of_an_unknown_name, "'porb'", "Did you mean 'prob'") {
  relu(input({2}), "prob");
  HERE Session().eval("porb");
}

WRONG_PROGRAM(one_fetch_of_several_of_an_unknown_name, "'lable'") {
  const Tensor x = relu(input({2}), "prob");
  HERE Session().run({x, "lable"});
}

WRONG_PROGRAM(a_fetch_of_an_output_that_is_not_there, "'prob:1'", "(relu)", "1 outputs") {
  relu(constant(1), "prob");
  HERE Session().eval("prob:1");
}

WRONG_PROGRAM(a_fetch_of_nothing, "[session]", "null Tensor") {
  input({2});
  HERE Session().eval(Tensor());
}

WRONG_PROGRAM(a_fetch_of_another_graph, "[session]", "'one'", "another graph") {
  const Tensor x = constant(1, "one");
  GraphScope other;
  HERE Session().eval(x);
}

WRONG_PROGRAM(a_prepared_run_without_its_feed, "[feed 'image']", "feed(0, value)") {
  HERE const Tensor x = input({2}, f32, "image");
  Session session;
  session.prepare(relu(x), {x}).run();
}

WRONG_PROGRAM(a_feed_beyond_those_prepared, "[prepared_run]", "feed 1 of 1", "'image'") {
  const Tensor x = input({2}, f32, "image");
  Session session;
  session.prepare(relu(x), {x}).feed(1, HostTensor({2}, f32));
}

WRONG_PROGRAM(a_value_beyond_those_prepared, "[prepared_run]", "value 3 of 1", "'act'") {
  const Tensor x = input({2}, f32, "image");
  Session session;
  session.prepare({relu(x, "act")}, {x}).value(3);
}

WRONG_PROGRAM(a_session_that_is_not_open, "[session]", "nullptr") { Session(nullptr).eval("x"); }

WRONG_PROGRAM(two_hooks_that_feed_one_input, "[hooked_session]", "'image'", "feed_twice", "both") {
  HERE const Tensor x = input({2}, f32, "image");
  Session session;
  FeedTwice one(x), two(x);
  HookedSession(session, {&one, &two}).run(relu(x));
}

WRONG_PROGRAM(an_unknown_pass, "[passes]", "'fues'", "Did you mean 'fuse'") {
  Session session(Graph::current(), {.disabled_passes = {"fues"}});
  session.eval(constant(1));
}

WRONG_PROGRAM(a_pass_that_no_plan_can_do_without, "[passes]", "'place'", "every node needs a device") {
  Session session(Graph::current(), {.disabled_passes = {"place"}});
  session.eval(constant(1));
}

}  // namespace
}  // namespace martello::testing
