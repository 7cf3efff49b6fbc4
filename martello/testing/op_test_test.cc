#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/testing/grad_check.h>
#include <martello/testing/internal/compare.h>
#include <martello/testing/op_coverage.h>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>

// The harness must see each kind of mistake. The ops here are a user's: y = x * x, with one mistake each.
namespace martello::testing {
namespace {

using ::testing::IsSubstring;

std::vector<TensorSpec> like_input(const ShapeContext& c) { return {c.in[0]}; }

template <class F>
Kernel kernel_of(const KernelPlan& plan, F f) {
  return visit_dtype(plan.in[0].dtype, [&]<class T>(T) -> Kernel {
    return [f](const KernelRun& run) {
      const auto x = run.in<T>(0);
      const auto y = run.out<T>(0);
      for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(f(static_cast<double>(x[i]), i, run));
    };
  });
}

Kernel square_kernel(const KernelPlan& plan) {
  return kernel_of(plan, [](double x, size_t, const KernelRun&) { return x * x; });
}
// dx = 2 x dy
TensorList square_gradient(const GradContext& c) { return {2 * c.input(0) * c.grad(0)}; }

constexpr OpDef kSquare = {.name = "test_square",
                           .doc = "y = x * x",
                           .inputs = {"x"},
                           .outputs = {"y"},
                           .shape = like_input,
                           .gradient = square_gradient,
                           .cpu = square_kernel,
                           .family = "Tests"};

constexpr OpDef with_name(OpDef def, const char* name) {
  def.name = name;
  return def;
}

constinit const OpDef op_square = kSquare;
constinit const OpDef op_bad_gradient = [] {
  OpDef def = with_name(kSquare, "test_bad_gradient");
  def.gradient = [](const GradContext& c) { return TensorList{c.input(0) * c.grad(0)}; };
  return def;
}();
constinit const OpDef op_bad_threads = [] {
  OpDef def = with_name(kSquare, "test_bad_threads");
  // Dear enough that the planner gives it a team.
  def.cost = [](std::span<const TensorSpec>, std::span<const TensorSpec>, const Attrs&) { return Cost{1e9, 1e9}; };
  def.cpu = [](const KernelPlan& plan) {
    const int threads = plan.threads;
    return kernel_of(plan, [threads](double x, size_t i, const KernelRun&) { return x * x + (i == 3 ? threads : 0); });
  };
  return def;
}();
constinit const OpDef op_bad_shape = [] {
  OpDef def = with_name(kSquare, "test_bad_shape");
  def.shape = [](const ShapeContext& c) {
    return std::vector<TensorSpec>{{c.in[0].shape.is_known() ? c.in[0].shape : Shape(7), c.in[0].dtype}};
  };
  return def;
}();

OpCase case_of(const OpDef& def) {
  return {.label = "squares",
          .inputs = {randn({2, 3})},
          .build = [&def](TensorList x) { return TensorList(add_op(def, {x[0]}, "y")); },
          .reference =
              [](const HostTensors& in) {
                const auto square = [](const std::vector<double>& v) { return v[0] * v[0]; };
                return HostTensors{map_elements(in, square, in[0].dtype())};
              },
          .dtypes = {f64}};
}

std::string failures_of(const std::function<void()>& f) {
  ::testing::TestPartResultArray results;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    f();
  }
  std::string all;
  for (int i = 0; i < results.size(); ++i) all += str(results.GetTestPartResult(i).message(), "\n");
  return all;
}

std::string failures_of(const OpDef& def, OpCase c) {
  return failures_of([&] { run_op_case(def.name, c); });
}

TEST(op_test, a_right_op_passes) {
  OpCase c = case_of(op_square);
  c.dtypes = {f32, f64};
  c.second_order = true;
  EXPECT_EQ(failures_of(op_square, c), "");
}

TEST(op_test, a_large_right_op_passes) {
  OpCase c = case_of(op_square);
  c.inputs = {randn({20, 30})};
  EXPECT_EQ(failures_of(op_square, c), "");
}

TEST(op_test, sees_a_wrong_value) {
  OpCase c = case_of(op_square);
  c.reference = [right = c.reference](const HostTensors& in) {
    HostTensors out = right(in);
    out[0].set(4, out[0].at(4) + 0.01);
    return out;
  };
  const std::string failures = failures_of(op_square, c);
  EXPECT_PRED_FORMAT2(IsSubstring, "test_square, row 'squares', f64: output 0 differs from the reference", failures);
  EXPECT_PRED_FORMAT2(IsSubstring, "at [1, 1] of f64[2, 3] (1 of 6 elements differ): got ", failures);
}

TEST(op_test, sees_a_wrong_gradient) {
  const std::string failures = failures_of(op_bad_gradient, case_of(op_bad_gradient));
  EXPECT_PRED_FORMAT2(IsSubstring, "row 'squares', gradient: [check_gradients] input 0 f64[2, 3] at [0, 0]", failures);
}

TEST(op_test, sees_bits_that_depend_on_threads) {
  OpCase c = case_of(op_bad_threads);
  c.reference = {};
  c.gradient = false;
  EXPECT_PRED_FORMAT2(IsSubstring, "gives other bits with 2 threads", failures_of(op_bad_threads, c));
  c.same_bits = false;
  EXPECT_EQ(failures_of(op_bad_threads, c), "");
}

TEST(op_test, sees_a_wrong_inferred_shape) {
  OpCase c = case_of(op_bad_shape);
  c.gradient = false;
  EXPECT_PRED_FORMAT2(IsSubstring, "was inferred with unknown dimensions as", failures_of(op_bad_shape, c));
}

TEST(op_test, reports_errors_of_a_row_with_its_label) {
  OpCase c = case_of(op_square);
  c.build = [](TensorList) -> TensorList { throw InvalidArgument("no way"); };
  EXPECT_PRED_FORMAT2(IsSubstring, "row 'squares', f64: no way", failures_of(op_square, c));
}

TEST(op_test, refusals_need_their_parts_and_the_users_line) {
  const auto build = [] { placeholder({-5}, f32, "x"); };
  EXPECT_EQ(failures_of([&] { expect_refused(build, {"placeholder", "-5"}, __FILE__); }), "");
  EXPECT_PRED_FORMAT2(IsSubstring, "axis", failures_of([&] { expect_refused(build, {"axis"}, __FILE__); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "does not show the user's line",
                      failures_of([&] { expect_refused(build, {}, "other_test.cc"); }));
  EXPECT_PRED_FORMAT2(IsSubstring, "nothing was refused", failures_of([] { expect_refused([] {}, {}, __FILE__); }));
}

TEST(op_test, coverage_lists_ops_without_rows) {
  const std::vector<std::string> gaps = op_coverage_gaps({});
  EXPECT_NE(std::find(gaps.begin(), gaps.end(), "constant: no OP_TEST row"), gaps.end()) << join(gaps, "\n");
}

OP_TEST(test_square, case_of(op_square), case_of(op_square));

TEST(op_test, rows_are_registered_and_counted) {
  EXPECT_EQ(tested_ops(), (std::map<std::string, size_t>{{"test_square", 2}}));
  const auto* suites = ::testing::UnitTest::GetInstance();
  int rows = 0;
  for (int i = 0; i < suites->total_test_suite_count(); ++i) {
    const auto* suite = suites->GetTestSuite(i);
    if (std::string_view(suite->name()) == "test_square") rows = suite->total_test_count();
  }
  EXPECT_EQ(rows, 2);
}

TEST(inputs, are_deterministic_and_of_the_range_asked_for) {
  EXPECT_TRUE(randn({100}).same_bits(randn({100})));
  EXPECT_FALSE(randn({100}, 1).same_bits(randn({100}, 2)));
  const HostTensor i = integers({1000}, -2, 3, i64);
  bool seen[5] = {};
  for (int64_t v : i.data<int64_t>()) {
    ASSERT_TRUE(-2 <= v && v < 3) << v;
    seen[v + 2] = true;
  }
  for (bool s : seen) EXPECT_TRUE(s);
  double mean = 0, square = 0;
  const HostTensor r = randn({10000});
  for (double v : r.data<double>()) mean += v / 10000, square += v * v / 10000;
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(square, 1, 0.05);
  EXPECT_EQ(iota({3}, i32).at(2), 2);
}

TEST(inputs, map_elements_broadcasts) {
  const auto add = [](const std::vector<double>& v) { return v[0] + v[1]; };
  const HostTensor y = map_elements({iota({2, 1, 3}), iota({2, 1})}, add, f32);
  EXPECT_EQ(y.shape(), Shape(2, 2, 3));
  EXPECT_EQ(y.at(0), 0);
  EXPECT_EQ(y.at(3), 1);
  EXPECT_EQ(y.at(11), 6);
  EXPECT_THROW(map_elements({iota({2}), iota({3})}, add, f32), InvalidArgument);
}

TEST(compare, not_a_numbers_and_infinities_agree_with_themselves) {
  const double nan = std::nan(""), inf = HUGE_VAL;
  const HostTensor a = HostTensor::of<double>({nan, inf, -inf, 1});
  EXPECT_EQ(difference(a, a, 0), "");
  EXPECT_NE(difference(a, HostTensor::of<double>({nan, inf, inf, 1}), 1), "");
  EXPECT_NE(difference(a, HostTensor::of<double>({0, inf, -inf, 1}), 1), "");
  EXPECT_NE(difference(HostTensor::of<int32_t>({1}), HostTensor::of<int32_t>({2}), 10), "") << "integers are exact";
}

TEST(check_gradients, throws_for_users) {
  const auto right = [](TensorList x) { return TensorList(add_op(op_square, {x[0]}, "y")); };
  const auto wrong = [](TensorList x) { return TensorList(add_op(op_bad_gradient, {x[0]}, "y")); };
  check_gradients(right, {randn({3})}, {.second_order = true});
  EXPECT_THROW(check_gradients(wrong, {randn({3})}), InvalidArgument);
  EXPECT_THROW(check_gradients(wrong, {randn({500})}), InvalidArgument);
}

}  // namespace
}  // namespace martello::testing
