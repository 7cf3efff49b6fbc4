#include "wrong.h"

namespace martello::testing {
namespace {

struct FeedTwice : RunHook {
  Tensor to;
  explicit FeedTwice(Tensor t) : to(t) {}
  void before_run(RunContext& context) override { context.feed(to, HostTensor({2}, f32)); }
  std::string hook_name() const override { return "feed_twice"; }
};

const WrongPrograms programs(
    __FILE__,
    {
        {"an_input_without_a_value",
         [](Line& here) {
           HERE const Tensor x = input({2, 3}, f32, "image");
           Session().eval(relu(x));
         },
         {"[placeholder 'image']", "f32[2, 3]", "Add it to the feeds"}},
        {"a_value_of_another_shape",
         [](Line& here) {
           HERE const Tensor x = input({kUnknown, 3}, f32, "image");
           Session().eval(relu(x), {{x, HostTensor({2, 4}, f32)}});
         },
         {"[feed 'image']", "f32[?, 3]", "f32[2, 4]"}},
        {"a_value_of_another_rank",
         [](Line& here) {
           HERE const Tensor x = input({kUnknown, 3}, f32, "image");
           Session().eval(relu(x), {{"image", HostTensor({3}, f32)}});
         },
         {"[feed 'image']", "f32[?, 3]", "f32[3]"}},
        {"a_value_of_another_dtype",
         [](Line& here) {
           HERE const Tensor x = input({2}, f32, "image");
           Session().eval(relu(x), {{x, HostTensor::of<double>({1, 2})}});
         },
         {"[feed 'image']", "f32[2]", "f64[2]"}},
        {"values_of_shapes_that_do_not_fit_each_other",
         [](Line& here) {
           const Tensor a = input({kUnknown}, f32, "a"), b = input({kUnknown}, f32, "b");
           HERE const Tensor sum = add(a, b, "sum");
           Session().eval(sum, {{a, HostTensor({2}, f32)}, {b, HostTensor({3}, f32)}});
         },
         {"[add 'sum']", "f32[2]", "f32[3]"}},
        {"one_input_fed_twice",
         [](Line& here) {
           const Tensor x = input({2}, f32, "image");
           HERE Session().eval(relu(x), {{x, HostTensor({2}, f32)}, {"image", HostTensor({2}, f32)}});
         },
         {"[feed 'image']", "twice"}},
        {"a_feed_of_an_operation",
         [](Line& here) {
           const Operation op = group({}, "nothing");
           HERE Session().run(op, {{op, HostTensor({2}, f32)}});
         },
         {"[session]", "'nothing'", "(group)", "cannot be fed"}},
        {"a_feed_of_an_operation_by_name",
         [](Line& here) {
           const Operation op = group({}, "nothing");
           HERE Session().run(op, {{"nothing", HostTensor({2}, f32)}});
         },
         {"'nothing'", "0 outputs"}},
        {"a_feed_of_an_unknown_name",
         [](Line& here) {
           const Tensor x = input({2}, f32, "tower0/image");
           HERE Session().eval(relu(x), {{"image", HostTensor({2}, f32)}});
         },
         {"'image'", "Did you mean 'tower0/image'"}},
        {"a_fetch_of_an_unknown_name",
         [](Line& here) {
           relu(input({2}), "prob");
           HERE Session().eval("porb");
         },
         {"'porb'", "Did you mean 'prob'"}},
        {"one_fetch_of_several_of_an_unknown_name",
         [](Line& here) {
           const Tensor x = relu(input({2}), "prob");
           HERE Session().run({x, "lable"});
         },
         {"'lable'"}},
        {"a_fetch_of_an_output_that_is_not_there",
         [](Line& here) {
           relu(constant(1), "prob");
           HERE Session().eval("prob:1");
         },
         {"'prob:1'", "(relu)", "1 outputs"}},
        {"a_fetch_of_nothing",
         [](Line& here) {
           input({2});
           HERE Session().eval(Tensor());
         },
         {"[session]", "null Tensor"}},
        {"a_fetch_of_another_graph",
         [](Line& here) {
           const Tensor x = constant(1, "one");
           GraphScope other;
           HERE Session().eval(x);
         },
         {"[session]", "'one'", "another graph"}},
        {"a_prepared_run_without_its_feed",
         [](Line& here) {
           HERE const Tensor x = input({2}, f32, "image");
           Session session;
           session.prepare(relu(x), {x}).run();
         },
         {"[feed 'image']", "feed(0, value)"}},
        {"a_feed_beyond_those_prepared",
         [](Line&) {
           const Tensor x = input({2}, f32, "image");
           Session session;
           session.prepare(relu(x), {x}).feed(1, HostTensor({2}, f32));
         },
         {"[prepared_run]", "feed 1 of 1", "'image'"}},
        {"a_value_beyond_those_prepared",
         [](Line&) {
           const Tensor x = input({2}, f32, "image");
           Session session;
           session.prepare({relu(x, "act")}, {x}).value(3);
         },
         {"[prepared_run]", "value 3 of 1", "'act'"}},
        {"a_session_that_is_not_open", [](Line&) { Session(nullptr).eval("x"); }, {"[session]", "nullptr"}},
        {"two_hooks_that_feed_one_input",
         [](Line& here) {
           HERE const Tensor x = input({2}, f32, "image");
           Session session;
           FeedTwice one(x), two(x);
           HookedSession(session, {&one, &two}).run(relu(x));
         },
         {"[hooked_session]", "'image'", "feed_twice", "both"}},
        {"an_unknown_pass",
         [](Line&) {
           Session session(Graph::current(), {.disabled_passes = {"fues"}});
           session.eval(constant(1));
         },
         {"[passes]", "'fues'", "Did you mean 'fuse'"}},
        {"a_pass_that_no_plan_can_do_without",
         [](Line&) {
           Session session(Graph::current(), {.disabled_passes = {"place"}});
           session.eval(constant(1));
         },
         {"[passes]", "'place'", "every node needs a device"}},
    });

}  // namespace
}  // namespace martello::testing
