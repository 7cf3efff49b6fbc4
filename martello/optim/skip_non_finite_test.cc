#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/random.h>
#include <martello/ops/reduce.h>
#include <martello/ops/unary.h>
#include <martello/optim/accumulate_gradients.h>
#include <martello/optim/gradient_processor.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>

namespace martello {
namespace {

// Lines of the log while it lives.
struct Log {
  std::string text;
  Log() {
    logger::set_sink([this](logger::Level, std::string_view line) { text += std::string(line) + "\n"; });
  }
  ~Log() { logger::set_sink({}); }
};

// The loss is x times things that are fine; a NaN in x is a NaN in one gradient.
struct Model {
  GraphScope graph;
  Tensor x = placeholder({4}, f32, "x");
  Variable a = get_variable("a", {.shape = {4}, .initializer = ones()});
  Variable b = get_variable("b", {.shape = {70000}, .initializer = ones()});
  Tensor noise = random_uniform({3}, {}, "noise");
  Tensor loss = reduce_sum(log(x) * a) + reduce_sum(square(b)) * (reduce_sum(noise) + 1);
};

HostTensors state(Session& s, const Graph& graph) {
  HostTensors all;
  for (const Variable& v : graph.collections().get(kGlobalVariables)) all.push_back(s.get(v.handle()));
  return all;
}

void expect_skips(Ref<Optimizer> optimizer, SessionOptions options = {}) {
  Log log;
  Model m;
  const Operation train = optimizer->minimize(m.loss);
  Session s(m.graph.graph(), std::move(options));
  auto run = s.prepare({train, m.loss}, {m.x});
  run.feed(0, HostTensor::of<float>({1, 2, 3, 4}));
  run.run();
  EXPECT_FALSE(run.was_skipped());
  const HostTensors before = state(s, m.graph.graph());
  for (float bad : {-1.f, 0.f}) {  // log gives NaN, and -Inf
    run.feed(0, HostTensor::of<float>({1, bad, 3, 4}));
    run.run();
    EXPECT_TRUE(run.was_skipped());
  }
  const HostTensors after = state(s, m.graph.graph());
  ASSERT_GT(before.size(), 2u);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(before[i].same_bits(after[i])) << i;
  EXPECT_EQ(s.skipped_runs(), 2);
  run.feed(0, HostTensor::of<float>({1, 2, 3, 4}));
  run.run();
  EXPECT_FALSE(run.was_skipped());
  EXPECT_LT(s.get(m.b).at(0), before[1].at(0));
}

TEST(SkipNonFinite, leaves_variables_slots_steps_and_counters_as_they_were) {
  for (int threads : {1, 2, 4}) expect_skips(SkipNonFinite(Adam(0.1)), {.threads = threads, .always_parallel = true});
}

TEST(SkipNonFinite, is_part_of_the_global_norm) {
  expect_skips(apply_grad_processors(Momentum(1e-6), {GlobalNormClip(1e6, {.skip_non_finite = true})}));
}

TEST(SkipNonFinite, skips_an_accumulation_too) { expect_skips(AccumGradOptimizer(SkipNonFinite(Adam(0.1)), 1)); }

TEST(SkipNonFinite, names_the_first_op_and_its_line) {
  Log log;
  Model m;
  const Operation train = SkipNonFinite(Adam(0.1)).minimize(m.loss);
  Session s;
  s.run(train, {{m.x, HostTensor::of<float>({1, -2, 3, 4})}});
  for (const char* part : {"[session]", "wrote nothing", "the first NaN", "(log)", "skip_non_finite_test.cc:"})
    EXPECT_NE(log.text.find(part), std::string::npos) << part << " in: " << log.text;
  EXPECT_EQ(log.text.find("is not finite;"), std::string::npos);
}

TEST(SkipNonFinite, names_what_was_fed) {
  Log log;
  Model m;
  const Operation train = SkipNonFinite(Adam(0.1)).minimize(m.loss);
  Session s;
  s.run(train, {{m.x, HostTensor::of<float>({1, NAN, 3, 4})}});
  EXPECT_NE(log.text.find("its input 'x' is not finite"), std::string::npos) << log.text;
}

TEST(SkipNonFinite, explains_as_often_as_asked) {
  Log log;
  Model m;
  const Operation train = SkipNonFinite(Adam(0.1)).minimize(m.loss);
  Session s(m.graph.graph(), {.explained_skips = 1});
  for (int i = 0; i < 3; ++i) s.run(train, {{m.x, HostTensor::of<float>({1, -1, 3, 4})}});
  const size_t first = log.text.find("wrote nothing");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(log.text.find("wrote nothing", first + 1), std::string::npos);
  EXPECT_EQ(s.skipped_runs(), 3);
}

TEST(SkipNonFinite, works_on_two_devices) {
  Log log;
  GraphScope g;
  const Tensor x = placeholder({2}, f32, "x");
  const Variable a = get_variable("a", {.shape = {2}, .initializer = ones()});
  Variable b;
  {
    DeviceScope on("cpu:1");
    b = get_variable("b", {.shape = {2}, .initializer = ones()});
  }
  const Operation train = SkipNonFinite(Momentum(0.1)).minimize(reduce_sum(a * x) + reduce_sum(square(b)));
  Session s;
  auto run = s.prepare(train, {x});
  run.feed(0, HostTensor::of<float>({1, INFINITY}));
  run.run();
  EXPECT_TRUE(run.was_skipped());
  EXPECT_EQ(s.get(b).at(0), 1);
  EXPECT_EQ(s.get(a).at(0), 1);
}

}  // namespace
}  // namespace martello
