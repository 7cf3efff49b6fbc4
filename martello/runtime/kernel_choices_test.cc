#include <gtest/gtest.h>
#include <martello/autodiff/gradients.h>
#include <martello/base/error.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/kernel_choice.h>
#include <martello/graph/scopes.h>
#include <martello/ops/conv2d.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/runtime/session.h>

#include <atomic>
#include <thread>

namespace martello {
namespace {

std::atomic<int> runs = 0;

// A kernel that writes `value`, after so many additions.
KernelCandidate candidate(std::string name, float value, int additions, int64_t scratch_bytes) {
  return {std::move(name), [=] {
            Kernel kernel([=](const KernelRun& run) {
              ++runs;
              volatile float sum = 0;
              for (int i = 0; i < additions; ++i) sum = sum + 1.0f;
              for (float& y : run.out<float>(0)) y = value;
              if (scratch_bytes > 0) run.scratch[scratch_bytes - 1] = std::byte{1};
            });
            return kernel.scratch(scratch_bytes);
          }};
}

constexpr int64_t kScratch = 1 << 20;

// Its rules prefer the slow kernel.
Kernel two_kernels(const KernelPlan& plan) {
  return choose_kernel(
      plan, std::vector<KernelCandidate>{candidate("slow", 1, 2'000'000, 0), candidate("quick", 2, 0, kScratch)});
}

constinit const OpDef op_two = {
    .name = "two_kernels",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = &attrs_type<NoAttrs>,
    .shape = [](const ShapeContext& c) { return std::vector<TensorSpec>{c.in[0]}; },
    .gradient = not_differentiable,
    .cpu = two_kernels,
};

Tensor two(Tensor x) { return add_op(op_two, {x}, "two"); }

class KernelChoicesTest : public ::testing::Test {
 protected:
  KernelChoicesTest() { runs = 0; }

  Feeds feeds(int64_t count) const { return {{x_, HostTensor::full({count}, f32, 0)}}; }
  float value(Session& session, int64_t count) { return static_cast<float>(session.eval(y_, feeds(count)).at(0)); }
  Session session(SessionOptions options) { return Session(scope_.graph(), std::move(options)); }

  GraphScope scope_;
  Tensor x_ = placeholder({kUnknown}, f32, "x");
  Tensor y_ = two(x_);
};

TEST_F(KernelChoicesTest, fixed_takes_the_first_and_times_nothing) {
  Session s = session({});
  s.memory_plan(y_, feeds(4));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(value(s, 4), 1);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(s.kernel_choices().str(), "martello kernel choices 1\ntwo_kernels(f32[4]) -> f32[4] 1 thread => slow\n");
}

TEST_F(KernelChoicesTest, measured_takes_the_fastest_once_per_shape) {
  Session s = session({.kernel_choice = KernelChoice::measured});
  EXPECT_EQ(value(s, 4), 2);
  const int measured = runs;
  EXPECT_GT(measured, 2);
  s.eval(y_ + y_, feeds(4));  // another plan, the same kernel
  EXPECT_EQ(runs, measured + 1);
  EXPECT_EQ(s.kernel_choices().size(), 1u);
  EXPECT_EQ(value(s, 5), 2);
  EXPECT_EQ(s.kernel_choices().str(),
            "martello kernel choices 1\ntwo_kernels(f32[4]) -> f32[4] 1 thread => quick\n"
            "two_kernels(f32[5]) -> f32[5] 1 thread => quick\n");
}

TEST_F(KernelChoicesTest, memory_is_planned_for_the_chosen_kernel) {
  Session fixed = session({}), measured = session({.kernel_choice = KernelChoice::measured});
  EXPECT_LT(fixed.memory_plan(y_, feeds(4)).devices[0].arena_bytes, kScratch);
  EXPECT_GE(measured.memory_plan(y_, feeds(4)).devices[0].arena_bytes, kScratch);
}

TEST_F(KernelChoicesTest, replayed_takes_what_was_recorded) {
  KernelChoices recorded;
  recorded.set("two_kernels(f32[4]) -> f32[4] 1 thread", "quick");
  for (KernelChoice policy : {KernelChoice::replayed, KernelChoice::measured}) {
    runs = 0;
    Session s = session({.kernel_choice = policy, .recorded_choices = KernelChoices::parse(recorded.str())});
    EXPECT_EQ(value(s, 4), 2);
    EXPECT_EQ(runs, 1) << "nothing is timed";
    EXPECT_EQ(s.kernel_choices(), recorded);
  }
}

// The text of what f throws.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "nothing was thrown";
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), text.npos) << word << " in " << text;
}

TEST_F(KernelChoicesTest, replayed_refuses_what_was_not_recorded) {
  Session s = session({.kernel_choice = KernelChoice::replayed});
  expect_words(refusal([&] { value(s, 4); }), {"two_kernels 'two'", "f32[4]", "1 thread", "0 choices", "measured"});
}

TEST_F(KernelChoicesTest, an_unknown_kernel_is_refused_with_those_there_are) {
  KernelChoices recorded;
  recorded.set("two_kernels(f32[4]) -> f32[4] 1 thread", "quack");
  for (KernelChoice policy : {KernelChoice::replayed, KernelChoice::measured}) {
    Session s = session({.kernel_choice = policy, .recorded_choices = recorded});
    expect_words(refusal([&] { value(s, 4); }), {"two_kernels 'two'", "'quack'", "'slow', 'quick'", "Did you mean"});
  }
  expect_words(refusal([&] { session({.recorded_choices = recorded}); }), {"1 recorded", "fixed", "replayed"});
}

TEST_F(KernelChoicesTest, threads_that_run_at_once_choose_once) {
  Session s = session({.kernel_choice = KernelChoice::measured});
  std::vector<std::thread> threads;
  std::atomic<int> quick = 0;
  for (int64_t i = 0; i < 8; ++i) threads.emplace_back([&, i] { quick += value(s, 3 + i % 2) == 2; });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(quick, 8);
  EXPECT_EQ(s.kernel_choices().size(), 2u);
}

TEST(kernel_choices, read_back_as_they_were_written) {
  KernelChoices choices;
  EXPECT_EQ(KernelChoices::parse(choices.str()), choices);
  choices.set("b(f32[2, 3]) {axis=1} -> f32[2] 2 threads", "oneDNN brg:avx512_core");
  choices.set("a() -> f32[] 1 thread", "own");
  EXPECT_EQ(KernelChoices::parse(choices.str()), choices);
  EXPECT_EQ(*choices.find("a() -> f32[] 1 thread"), "own");
  EXPECT_EQ(choices.find("a"), nullptr);
}

TEST(kernel_choices, hostile_texts_are_refused) {
  const std::string head = "martello kernel choices 1\n";
  const auto text = [&](std::string lines) { return refusal([&] { KernelChoices::parse(lines); }); };
  expect_words(text(""), {"cut off"});
  expect_words(text(head + "a => b"), {"\"a => b\"", "cut off"});
  expect_words(text("martello kernel choices 2\na => b\n"), {"choices 2", "another version"});
  expect_words(text(head + "a -> b\n"), {"line 2", "\"a -> b\""});
  expect_words(text(head + "a => b\n => c\n"), {"line 3"});
  expect_words(text(head + "a => \n"), {"line 2"});
  expect_words(text(head + "a => b => c\n"), {"line 2"});
  expect_words(text(head + "\n"), {"line 2"});
  expect_words(text(head + "a => b\na => b\n"), {"line 3", "again", "\"a\""});
  expect_words(refusal([] { KernelChoices().set("a\nb", "c"); }), {"one line"});
}

// A convolution, its gradients and a product, by all policies.
struct Net {
  Tensor x = placeholder({2, 16, 16, 32}, f32, "x"), kernel = placeholder({3, 3, 32, 32}, f32, "kernel");
  TensorList results() {
    const Tensor y = conv2d(x, kernel);
    const TensorList grads = gradients({reduce_sum(y * y)}, {x, kernel});
    const Tensor rows = reshape(y, {512, 32});
    return {y, grads[0], grads[1], matmul(rows, rows, {.transpose_a = true})};
  }
  Feeds feeds() {
    HostTensor a(x.shape(), f32), b(kernel.shape(), f32);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
    for (int64_t i = 0; i < b.num_elements(); ++i) b.set(i, static_cast<double>(i * 53 % 97) / 480 - 0.1);
    return {{x, a}, {kernel, b}};
  }
};

TEST(kernel_choices, convolutions_and_products_replay_with_the_same_bits) {
  const GraphScope scope;
  Net net;
  const TensorList results = net.results();
  const Feeds feeds = net.feeds();
  for (int threads : {1, 2}) {
    Session measured(scope.graph(), {.threads = threads, .kernel_choice = KernelChoice::measured});
    const HostTensors expected = measured.run(results, feeds);
    const KernelChoices choices = measured.kernel_choices();
    EXPECT_EQ(choices.size(), 4u) << choices.str();
    for (int repeat = 0; repeat < 2; ++repeat) {
      Session replayed(scope.graph(), {.threads = threads,
                                       .kernel_choice = KernelChoice::replayed,
                                       .recorded_choices = KernelChoices::parse(choices.str())});
      const HostTensors values = replayed.run(results, feeds);
      for (size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(values[i].same_bits(expected[i])) << i << choices.str();
      EXPECT_EQ(replayed.plan_report(results, feeds).implementations,
                measured.plan_report(results, feeds).implementations);
      EXPECT_EQ(replayed.kernel_choices(), choices);
    }
  }
}

TEST(kernel_choices, fixed_rules_give_the_same_bits_twice) {
  const GraphScope scope;
  Net net;
  const TensorList results = net.results();
  const Feeds feeds = net.feeds();
  Session first(scope.graph()), second(scope.graph());
  const HostTensors a = first.run(results, feeds), b = second.run(results, feeds);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bits(b[i])) << i;
  EXPECT_EQ(first.kernel_choices(), second.kernel_choices());
  // What rules chose can be held against other rules.
  Session replayed(scope.graph(),
                   {.kernel_choice = KernelChoice::replayed, .recorded_choices = first.kernel_choices()});
  const HostTensors c = replayed.run(results, feeds);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].same_bits(c[i])) << i;
}

}  // namespace
}  // namespace martello
