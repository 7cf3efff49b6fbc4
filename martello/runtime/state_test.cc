#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/assign.h>
#include <martello/ops/binary.h>
#include <martello/ops/compare.h>
#include <martello/ops/cond.h>
#include <martello/ops/control.h>
#include <martello/ops/identity.h>
#include <martello/ops/initializers.h>
#include <martello/ops/reshape.h>
#include <martello/ops/scatter_update.h>
#include <martello/runtime/hooked_session.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <stdexcept>

// See Note [What a run means] in schedule.cc. Each test fails under any other order of reads and writes.
namespace martello {
namespace {

using testing::error_of;

using ::testing::IsSubstring;

Variable scalar(Name name, double value) {
  return raw_variable(name, {.initializer = constant_init(value), .trainable = false});
}

double value_of(Session& session, const Variable& v) { return session.get(v).at(0); }

std::vector<double> numbers(const HostTensors& values) {
  std::vector<double> list;
  for (const HostTensor& t : values)
    if (t.num_elements() > 0) list.push_back(t.at(0));
  return list;
}
using Numbers = std::vector<double>;

TEST(state, reads_see_the_value_at_the_start_of_the_run) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation update = assign(v, 5);
  const Tensor made_after = v * 10;
  Session session;
  EXPECT_EQ(numbers(session.run({update, v, made_after})), (Numbers{1, 10}));
  EXPECT_EQ(numbers(session.run({v, made_after})), (Numbers{5, 50}));
}

TEST(state, control_edges_do_not_move_the_variable_itself) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  ControlDependencies after({assign(v, 5)});
  const Tensor old = v * 10;
  Session session;
  EXPECT_EQ(numbers(session.run(old)), Numbers{10});
  EXPECT_EQ(value_of(session, v), 5) << "the write before it ran";
}

TEST(state, a_value_can_be_computed_from_old_and_new) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  ControlDependencies after({assign(v, v * 3 + 4)});
  const Tensor change = read_variable(v) - v;
  Session session;
  EXPECT_EQ(numbers(session.run(change)), Numbers{6});
  EXPECT_EQ(numbers(session.run(change)), Numbers{18});
}

TEST(state, two_assigns_swap) {
  GraphScope scope;
  const Variable a = scalar("a", 1), b = scalar("b", 2);
  const Operation to_a = assign(a, b), to_b = assign(b, a);
  Session session;
  session.run({to_a, to_b});
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b)}), (Numbers{2, 1}));
  session.run({to_b, to_a});
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b)}), (Numbers{1, 2}));
}

TEST(state, three_assigns_rotate_through_aliases) {
  GraphScope scope;
  const Variable a = scalar("a", 1), b = scalar("b", 2), c = scalar("c", 3);
  const auto alias = [](const Variable& v) { return reshape(identity(reshape(v, {1})), Shape()); };
  const std::vector<Operation> moves{assign(a, alias(b)), assign(b, alias(c)), assign(c, alias(a))};
  Session session;
  session.run({moves[2], moves[0], moves[1]});
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b), value_of(session, c)}), (Numbers{2, 3, 1}));
}

TEST(state, fetched_aliases_are_old_too) {
  GraphScope scope;
  const Variable v = raw_variable("v", {.shape = {2, 2}, .initializer = constant_init(1), .trainable = false});
  const Operation update = assign(v, 7);
  const Tensor flat = reshape(v, {4}), same = identity(v), both = identity(reshape(identity(v), {4, 1}));
  Session session;
  EXPECT_EQ(numbers(session.run({flat, update, same, both, v})), (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(numbers(session.run({flat, same, both, v})), (Numbers{7, 7, 7, 7}));
}

// 2^24 + 1 rounds to 2^24 in f32: only one order of these three gives 0.
TEST(state, updates_apply_in_the_order_of_creation) {
  constexpr double kLarge = 16777216;
  GraphScope scope;
  const Variable v = scalar("v", 0);
  const Operation up = assign_add(v, kLarge), one = assign_add(v, 1), down = assign_sub(v, kLarge);
  Session session;
  session.run({one, down, up});
  EXPECT_EQ(value_of(session, v), 0);
  const Variable w = scalar("w", 0);
  const Operation w_up = assign_add(w, kLarge), w_down = assign_sub(w, kLarge), w_one = assign_add(w, 1);
  session.run({w_one, w_up, w_down});
  EXPECT_EQ(value_of(session, w), 1);
}

TEST(state, an_update_before_or_after_an_assign_follows_creation_too) {
  GraphScope scope;
  const Variable v = scalar("v", 1), w = scalar("w", 1);
  const Operation set_v = assign(v, 10), add_v = assign_add(v, 5);
  const Operation add_w = assign_add(w, 5), set_w = assign(w, 10);
  Session session;
  session.run({add_v, set_v, set_w, add_w});
  EXPECT_EQ((Numbers{value_of(session, v), value_of(session, w)}), (Numbers{15, 10}));
}

TEST(state, a_path_goes_before_the_order_of_creation) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation first_made = assign_add(v, 5), last_made = assign(v, 10);
  add_control_dependency(first_made, last_made);
  Session session;
  session.run({first_made, last_made});
  EXPECT_EQ(value_of(session, v), 15);
}

TEST(state, the_operands_of_updates_are_old_values) {
  GraphScope scope;
  const Variable a = scalar("a", 1), b = scalar("b", 10);
  const Operation grow_a = assign_add(a, b), grow_b = assign_add(b, a), again = assign_add(a, a);
  Session session;
  session.run({grow_a, grow_b, again});
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b)}), (Numbers{12, 11}));
}

TEST(state, a_read_sees_the_writes_that_control_edges_put_before_it) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation update = assign(v, 5);
  const Tensor free = read_variable(v, "free");
  ControlDependencies after({update});
  const Tensor fresh = read_variable(v, "fresh");
  Session session;
  EXPECT_EQ(numbers(session.run({fresh, free, v})), (Numbers{5, 1, 1}));
}

TEST(state, a_path_through_pure_nodes_orders_a_read) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation update = assign(v, 5);
  Tensor between;
  {
    ControlDependencies after({update});
    between = constant(2) * 3;
  }
  ControlDependencies after({group({between.op()})});
  const Tensor fresh = read_variable(v);
  Session session;
  EXPECT_EQ(numbers(session.run(fresh)), Numbers{5});
}

TEST(state, reads_and_writes_chain) {
  GraphScope scope;
  const Variable v = scalar("v", 1), seen = scalar("seen", 0);
  TensorList reads{v};
  Operation last = assign(v, v * 2);
  for (int i = 0; i < 3; ++i) {
    ControlDependencies after({last});
    const Tensor fresh = read_variable(v);
    reads.push_back(fresh);
    last = assign(v, fresh * 10 + v);
  }
  const Operation note = assign_add(seen, reads[2]);
  Session session;
  EXPECT_EQ(numbers(session.run({reads[3], reads[1], reads[0], reads[2], note, last})), (Numbers{211, 2, 1, 21}));
  EXPECT_EQ((Numbers{value_of(session, v), value_of(session, seen)}), (Numbers{2111, 21}));
}

TEST(state, two_assigns_without_a_path_are_refused) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation one = assign(v, 2, "one"), two = assign(v, 3, "two");
  Session session;
  const std::string text = error_of([&] { session.run({one, two}); });
  for (const char* part : {"'one'", "'two'", "'v'", "ControlDependencies", "state_test.cc:"})
    EXPECT_PRED_FORMAT2(IsSubstring, part, text);
  session.run(two);
  EXPECT_EQ(value_of(session, v), 3) << "each alone is fine";
}

TEST(state, of_two_assigns_with_a_path_the_last_wins) {
  GraphScope scope;
  const Variable v = scalar("v", 1), w = scalar("w", 1);
  const Operation one = assign(v, 2);
  ControlDependencies after({one});
  const Operation two = assign(v, 3);
  const Operation w_first_made = assign(w, 2), w_last_made = assign(w, 3);
  add_control_dependency(w_first_made, w_last_made);
  Session session;
  session.run({two, w_first_made});
  EXPECT_EQ((Numbers{value_of(session, v), value_of(session, w)}), (Numbers{3, 2}));
}

// What fails while a run computes leaves every variable as it was.
void expect_untouched(const std::function<Operation(Tensor)>& failing) {
  GraphScope scope;
  const Tensor x = placeholder({}, f32, "x");
  const Variable a = scalar("a", 1), b = scalar("b", 2);
  const Variable rows = raw_variable("rows", {.shape = {3}, .initializer = ones(), .trainable = false});
  const std::vector<Operation> writes{assign(a, x), assign_add(b, a), scatter_add(rows, constant(HostTensor(1)), x)};
  const Operation check = failing(x);
  Session session;
  EXPECT_THROW(session.run({writes[0], check, writes[1], writes[2]}, {{x, 100.0f}}), Error);
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b), session.get(rows).at(1)}), (Numbers{1, 2, 1}));
  session.run({writes[0], check, writes[1], writes[2]}, {{x, 3.0f}});
  EXPECT_EQ((Numbers{value_of(session, a), value_of(session, b), session.get(rows).at(1)}), (Numbers{3, 3, 4}));
}

TEST(state, a_failing_assert_leaves_no_trace) {
  expect_untouched([](Tensor x) { return assert_that(x < 10, "x is large"); });
}

TEST(state, a_failing_host_call_leaves_no_trace) {
  expect_untouched([](Tensor x) {
    const auto refuse_large = [](const HostTensors& in) -> HostTensors {
      if (in[0].at(0) > 10) throw std::runtime_error("too large");
      return in;
    };
    return host_call(x, {{{}, f32}}, refuse_large)[0].op();
  });
}

TEST(state, a_bad_index_leaves_no_trace) {
  expect_untouched([](Tensor x) {
    const Variable other = raw_variable("other", {.shape = {10}, .initializer = zeros(), .trainable = false});
    const auto index = [](const HostTensors& in) { return HostTensors{in[0].cast(i32)}; };
    return scatter_assign(other, host_call(x, {{{}, i32}}, index)[0], 1);
  });
}

class FetchHook final : public RunHook {
 public:
  explicit FetchHook(Tensor t) : tensor_(t) {}
  void before_run(RunContext& run) override { run.fetch(tensor_); }
  void after_run(RunContext& run) override { seen.push_back(run.value().at(0)); }
  Numbers seen;

 private:
  Tensor tensor_;
};

TEST(state, hooks_see_values_from_before_the_update) {
  GraphScope scope;
  const Variable step = scalar("step", 0);
  const Operation train = assign_add(step, 1);
  FetchHook itself(step), derived(step * 10);
  Session session;
  HookedSession hooked(session, {&itself, &derived});
  for (int i = 0; i < 3; ++i) hooked.run(train);
  EXPECT_EQ(itself.seen, (Numbers{0, 1, 2}));
  EXPECT_EQ(derived.seen, (Numbers{0, 10, 20}));
}

TEST(state, branches_see_values_from_before_the_update) {
  GraphScope scope;
  const Variable v = scalar("v", 1);
  const Operation update = assign(v, 5);
  const Tensor y = cond(
      v < 3, [&] { return v * 10; }, [&] { return v * 100; });
  Session session;
  EXPECT_EQ(numbers(session.run({update, y})), Numbers{10});
  EXPECT_EQ(numbers(session.run({update, y})), Numbers{500});
}

// A momentum step with bias correction, as plain nodes: some values old, some new.
TEST(state, an_optimizer_step_of_plain_nodes) {
  GraphScope scope;
  const Variable weight = scalar("weight", 1), momentum = scalar("momentum", 2), steps = scalar("steps", 0);
  const Tensor gradient = weight * 4;
  const Operation count = assign_add(steps, 1), decay = assign(momentum, momentum * 0.5f + gradient);
  Operation apply;
  Tensor rate;
  {
    ControlDependencies after({count, decay});
    rate = read_variable(steps) / 8;
    apply = assign_sub(weight, read_variable(momentum) * rate);
  }
  const Operation shrink = assign_sub(weight, weight * 0.25f);
  Session session;
  EXPECT_EQ(numbers(session.run({shrink, apply, rate, weight, momentum, steps})), (Numbers{0.125, 1, 2, 0}));
  // momentum 2 / 2 + 4 = 5; weight 1 - 5 / 8 - 1 / 4
  EXPECT_EQ((Numbers{value_of(session, weight), value_of(session, momentum), value_of(session, steps)}),
            (Numbers{0.125, 5, 1}));
  EXPECT_EQ(numbers(session.run({rate, shrink, apply})), Numbers{0.25});
  // momentum 5 / 2 + 0.5 = 3; weight 0.125 - 3 / 4 - 0.125 / 4
  EXPECT_EQ((Numbers{value_of(session, weight), value_of(session, momentum), value_of(session, steps)}),
            (Numbers{-0.65625, 3, 2}));
}

}  // namespace
}  // namespace martello
