#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/collections.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/ops/binary.h>
#include <martello/ops/initializers.h>
#include <martello/ops/summary.h>
#include <martello/optim/gradient_processor.h>
#include <martello/optim/optimizers.h>
#include <martello/runtime/session.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace martello {
namespace {

struct Log {
  std::string text;
  Log() {
    logger::set_sink([this](logger::Level, std::string_view line) { text += std::string(line) + "\n"; });
  }
  ~Log() { logger::set_sink({}); }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
};

// Gradients {3, 4} of fc/W and {12} of conv/W; both start at 0, so a step of rate 1 shows what was applied.
struct Model {
  GraphScope graph;
  Variable fc = get_variable("fc/W", {.shape = {2}, .initializer = zeros()});
  Variable conv = get_variable("conv/W", {.shape = {1}, .initializer = zeros()});
  GradVars grads = {{constant(HostTensor::of<float>({3, 4})), fc}, {constant(HostTensor::of<float>({12})), conv}};

  // {fc, fc, conv} after one step.
  std::vector<double> apply(Ref<GradientProcessor> p) {
    const Operation step = apply_grad_processors(GradientDescent(1), {std::move(p)})->apply_gradients(grads);
    Session s;
    s.run(step);
    return {-s.get(fc).at(0), -s.get(fc).at(1), -s.get(conv).at(0)};
  }
};
using Values = std::vector<double>;

TEST(GradientProcessor, global_norm_clip_scales_all) {
  for (bool skip : {false, true}) {
    const Values v = Model().apply(GlobalNormClip(6.5, {.skip_non_finite = skip}));
    EXPECT_NEAR(v[0], 1.5, 1e-6);
    EXPECT_NEAR(v[1], 2, 1e-6);
    EXPECT_NEAR(v[2], 6, 1e-6);
    EXPECT_EQ(Model().apply(GlobalNormClip(13.5, {.skip_non_finite = skip})), (Values{3, 4, 12}));
  }
}

TEST(GradientProcessor, global_norm_clip_takes_two_dtypes) {
  for (bool skip : {false, true}) {
    Model m;
    const Variable wide = get_variable("wide", {.shape = {1}, .dtype = f64, .initializer = zeros()});
    m.grads[1] = {constant(HostTensor::of<double>({12})), wide};
    const Operation step = apply_grad_processors(GradientDescent(1), {GlobalNormClip(6.5, {.skip_non_finite = skip})})
                               ->apply_gradients(m.grads);
    Session s;
    s.run(step);
    EXPECT_NEAR(s.get(wide).at(0), -6, 1e-6);
    EXPECT_NEAR(s.get(m.fc).at(1), -2, 1e-6);
  }
}

TEST(GradientProcessor, map_gradient_matches_whole_names) {
  EXPECT_EQ(Model().apply(MapGradient([](Tensor g, Variable) { return g * 0.5; }, "fc/.*")), (Values{1.5, 2, 12}));
  EXPECT_EQ(Model().apply(MapGradient([](Tensor g) { return g * 2; }, "c")), (Values{3, 4, 12}));
  EXPECT_EQ(Model().apply(MapGradient([](Tensor g) { return g * 2; })), (Values{6, 8, 24}));
  EXPECT_EQ(Model().apply(MapGradient([](Tensor) { return Tensor(); }, "conv/W")), (Values{3, 4, 0}));
}

TEST(GradientProcessor, map_gradient_warns_when_nothing_matches) {
  Log log;
  Model().apply(MapGradient([](Tensor g) { return g; }, "dense/.*"));
  EXPECT_TRUE(log.has("no variable matches 'dense/.*'")) << log.text;
}

TEST(GradientProcessor, scale_gradient_takes_the_first_match) {
  EXPECT_EQ(Model().apply(ScaleGradient("fc/W", 10, false)), (Values{30, 40, 12}));
  EXPECT_EQ(Model().apply(ScaleGradient({{"conv.*", 0}, {".*", 2}}, false)), (Values{6, 8, 0}));
}

TEST(GradientProcessor, processors_run_in_order) {
  Model m;
  const Operation step = apply_grad_processors(GradientDescent(1), {MapGradient([](Tensor g) { return g + 1.0; }),
                                                                    ScaleGradient(".*", 2, false)})
                             ->apply_gradients(m.grads);
  Session s;
  s.run(step);
  EXPECT_EQ(s.get(m.conv).at(0), -26);
}

TEST(GradientProcessor, filter_none_grad_drops_and_names) {
  Log log;
  Model m;
  m.grads[0].grad = Tensor();
  EXPECT_EQ(m.apply(FilterNoneGrad()), (Values{0, 0, 12}));
  EXPECT_TRUE(log.has("1 variables have no gradient: fc/W")) << log.text;
}

TEST(GradientProcessor, summary_gradient_adds_histogram_and_average_once) {
  Model m;
  const Ref<Optimizer> optimizer = apply_grad_processors(GradientDescent(1), {SummaryGradient("fc/.*")});
  optimizer->apply_gradients(m.grads);
  optimizer->apply_gradients(m.grads);
  const auto summaries = m.graph.graph().collections().get(kSummaries);
  ASSERT_EQ(summaries.size(), 2u);
  const Summary histogram = summary_of(summaries[0]), rms = summary_of(summaries[1]);
  EXPECT_EQ(histogram.tag, "fc/W-grad");
  EXPECT_EQ(histogram.kind, SummaryKind::histogram);
  EXPECT_EQ(histogram.value, m.grads[0].grad);
  EXPECT_EQ(rms.tag, "fc/W-grad/rms");
  EXPECT_NEAR(Session().eval(rms.value).at(0), std::sqrt(12.5), 1e-5);
  EXPECT_EQ(m.graph.graph().collections().get(kMovingSummaryOps).size(), 1u);
}

TEST(GradientProcessor, print_gradient_writes_in_every_step) {
  Log log;
  Model m;
  const Operation step = apply_grad_processors(GradientDescent(1), {PrintGradient("fc/.*")})->apply_gradients(m.grads);
  Session s;
  for (int i = 0; i < 2; ++i) s.run(step);
  const size_t first = log.text.find("gradient of 'fc/W', mean rms min max: f32[4] 3.5 ");
  ASSERT_NE(first, std::string::npos) << log.text;
  EXPECT_NE(log.text.find("gradient of 'fc/W'", first + 1), std::string::npos);
  EXPECT_FALSE(log.has("conv"));
}

TEST(GradientProcessor, check_gradient_names_the_variable) {
  Model m;
  m.grads[0].grad = constant(HostTensor::of<float>({3, NAN}));
  const Operation step = apply_grad_processors(GradientDescent(1), {CheckGradient()})->apply_gradients(m.grads);
  Session s;
  try {
    s.run(step);
    FAIL() << "a NaN passed";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("gradient of 'fc/W'"), std::string::npos) << e.what();
  }
  EXPECT_EQ(s.get(m.conv).at(0), 0);
}

TEST(GradientProcessor, refuses_what_cannot_be) {
  Model m;
  EXPECT_THROW(GlobalNormClip(0), InvalidArgument);
  EXPECT_THROW(GlobalNormClip(std::numeric_limits<double>::infinity()), InvalidArgument);
  EXPECT_THROW(MapGradient([](Tensor g) { return g; }, "(fc"), InvalidArgument);
  EXPECT_THROW(apply_grad_processors(nullptr, {CheckGradient()}), InvalidArgument);
  EXPECT_THROW(apply_grad_processors(GradientDescent(1), {Ref<GradientProcessor>()}), InvalidArgument);
  EXPECT_THROW(m.apply(ScaleGradient(".*", 0, false)), InvalidArgument);  // nothing is left
  m.grads[0].grad = Tensor();
  EXPECT_THROW(m.apply(GlobalNormClip(1)), InvalidArgument);
}

}  // namespace
}  // namespace martello
