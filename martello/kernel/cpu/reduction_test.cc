#include <martello/base/error.h>
#include <martello/base/philox.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/example_kernels.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace martello::cpu {
namespace {

using A = ElementwiseArg;
using Kind = Reduction::Kind;

template <class T>
std::vector<T> numbers(int64_t n, uint32_t key) {
  std::vector<T> x;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<T>(uniform_f64(Philox::block({static_cast<uint32_t>(i), 0, 0, 0}, {key, 7})[0], 0) + 0.5));
  }
  return x;
}

template <class T>
std::vector<double> naive(const std::vector<T>& x, const Shape& shape, const Reduction& r) {
  std::vector<double> y;
  std::vector<int64_t> counts;
  const double start = r.kind == Kind::prod ? 1 : r.kind == Kind::max ? -INFINITY : r.kind == Kind::min ? INFINITY : 0;
  int64_t results = 1;
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()));
  for (int axis : r.axes) reduced[static_cast<size_t>(normalized_axis(axis, shape.rank()))] = true;
  for (int d = 0; d < shape.rank(); ++d) results *= reduced[static_cast<size_t>(d)] ? 1 : shape[d];
  y.assign(static_cast<size_t>(results), start);
  counts.assign(y.size(), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), at = 0, stride = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (!reduced[static_cast<size_t>(d)]) {
        at += rest % shape[d] * stride;
        stride *= shape[d];
      }
      rest /= shape[d];
    }
    double& v = y[static_cast<size_t>(at)];
    ++counts[static_cast<size_t>(at)];
    if (r.kind == Kind::max) v = std::max<double>(v, x[i]);
    else if (r.kind == Kind::min) v = std::min<double>(v, x[i]);
    else v = r.kind == Kind::prod ? v * x[i] : v + x[i];
  }
  for (size_t i = 0; i < y.size() && r.kind == Kind::mean; ++i) y[i] /= static_cast<double>(counts[i]);
  return y;
}

template <class T>
std::vector<T> reduce(const std::vector<T>& x, const Shape& shape, const Reduction& r, Isa isa, int threads = 1) {
  const Shape shapes[] = {shape};
  return run_kernel<T>(ElementwiseKernel(program_of<T>(1), shape, shapes, r, isa), {x}, threads);
}

// y = x * x + b, stored or not.
template <class T>
std::vector<T> chain(const std::vector<T>& x, const std::vector<T>& b, const Shape& shape, const Shape& b_shape,
                     const std::optional<Reduction>& r, Isa isa, int threads) {
  const auto program = program_of<T>(
      2, {{&formula_example_square, {A::input(0)}, {}}, {&formula_example_add, {A::value(0), A::input(1)}, {}}});
  const Shape shapes[] = {shape, b_shape};
  return run_kernel<T>(ElementwiseKernel(program, shape, shapes, r, isa), {x, b}, threads);
}

struct Case {
  Shape shape;
  std::vector<int> axes;
};
std::vector<Case> cases() {
  std::vector<Case> all = {{Shape(), {}},
                           {Shape(70000), {0}},
                           {Shape(3000, 10), {0}},
                           {Shape(3000, 10), {1}},
                           {Shape(10, 3000), {0}},
                           {Shape(10, 3000), {-1}},
                           {Shape(5, 4100), {1}},
                           {Shape(2500, 33), {0}},
                           {Shape(4, 70, 65), {1}},
                           {Shape(4, 70, 65), {0, 2}},
                           {Shape(70, 3, 50), {0, 1}},
                           {Shape(3, 40, 5, 6), {0, 2}},
                           {Shape(2, 3, 4, 5, 2, 3, 2, 2), {1, 3, 5, 7}},
                           {Shape(2, 3, 4, 5, 2, 3, 2, 2), {0, 2, 4, 6}},
                           {Shape(1, 300, 1, 7), {0, 1, 2}},
                           {Shape(40, 2500), {0}},
                           {Shape(300, 2500), {0}},
                           {Shape(2, 33, 1300), {1}},
                           {Shape(40, 1), {1}},
                           {Shape(7, 9), {}}};
  for (int64_t n = 1; n < 300; n += 13) {
    all.push_back({Shape(3, n), {1}});
    all.push_back({Shape(n, 3), {0}});
    all.push_back({Shape(n, 70), {0}});
    all.push_back({Shape(5, 4, n), {1}});
    all.push_back({Shape(n % 40 + 1, 60 + n), {0}});
  }
  for (int64_t n = 1; n < 70; ++n) all.push_back({Shape(37, n), {1}});
  return all;
}

template <class T>
void check_close(const std::vector<T>& y, const std::vector<double>& expected, const Case& c) {
  ASSERT_EQ(y.size(), expected.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const double tolerance = 40 * std::numeric_limits<T>::epsilon() * std::abs(expected[i]);
    ASSERT_NEAR(y[i], expected[i], tolerance) << c.shape.str() << " at " << i;
  }
}

template <class T>
void check_cases() {
  for (const Case& c : cases()) {
    const auto x = numbers<T>(c.shape.num_elements(), 1);
    for (Kind kind : {Kind::sum, Kind::mean, Kind::max, Kind::min}) {
      const Reduction r{kind, c.axes, false};
      const auto y = reduce(x, c.shape, r, host_isa());
      check_close(y, naive(x, c.shape, r), c);
      for (Isa isa : isas_here()) ASSERT_TRUE(same_bits(reduce(x, c.shape, r, isa, 2), y)) << c.shape.str();
      ASSERT_TRUE(same_bits(reduce(x, c.shape, r, host_isa(), 4), y)) << c.shape.str();
    }
  }
}
TEST(Reduction, f32_agrees_with_a_naive_loop_and_with_every_level) { check_cases<float>(); }
TEST(Reduction, f64_agrees_with_a_naive_loop_and_with_every_level) { check_cases<double>(); }

TEST(Reduction, fused_equals_stored_then_reduced) {
  for (const Case& c : cases()) {
    const Shape last = c.shape.rank() ? Shape(c.shape[-1]) : Shape();
    const auto x = numbers<float>(c.shape.num_elements(), 1), b = numbers<float>(last.num_elements(), 2);
    const auto stored = chain<float>(x, b, c.shape, last, std::nullopt, host_isa(), 1);
    for (Kind kind : {Kind::sum, Kind::mean, Kind::max, Kind::min, Kind::prod}) {
      const Reduction r{kind, c.axes, true};
      const auto expected = reduce(stored, c.shape, r, host_isa());
      for (Isa isa : isas_here()) {
        ASSERT_TRUE(same_bits(chain<float>(x, b, c.shape, last, r, isa, 2), expected)) << c.shape.str();
      }
    }
  }
}

TEST(Reduction, products_follow_the_same_order) {
  const Reduction r{Kind::prod, {0}, false};
  std::vector<double> x(5000, 1.0001);
  const auto y = reduce(x, Shape(5000), r, host_isa());
  EXPECT_NEAR(y[0], std::pow(1.0001, 5000), 1e-11);
  for (Isa isa : isas_here()) EXPECT_TRUE(same_bits(reduce(x, Shape(5000), r, isa), y));
}

TEST(Reduction, sum_of_16_million_tenths_is_accurate) {
  const int64_t n = int64_t{16} << 20;
  const std::vector<float> x(static_cast<size_t>(n), 0.1f);
  const double exact = static_cast<double>(n) * static_cast<double>(0.1f);
  EXPECT_NEAR(reduce(x, Shape(n), {Kind::sum, {0}, false}, host_isa(), 2)[0] / exact, 1, 1e-6);
  EXPECT_NEAR(reduce(x, Shape(n / 16, 16), {Kind::sum, {0}, false}, host_isa(), 2)[3] / exact * 16, 1, 1e-6);
}

// The order of Note [Order of sums], for rows that need no merging.
std::vector<float> sum_by_blocks(std::vector<float> x, int64_t rows, int64_t n) {
  while (rows > 1) {
    std::vector<float> y;
    const int64_t blocks = std::max<int64_t>(1, rows / 32);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = block * 32, last = block + 1 < blocks ? first + 32 : rows;
      for (int64_t k = 0; k < n; ++k) {
        float sum = x[static_cast<size_t>(first * n + k)];
        for (int64_t r = first + 1; r < last; ++r) sum += x[static_cast<size_t>(r * n + k)];
        y.push_back(sum);
      }
    }
    x = std::move(y);
    rows = blocks;
  }
  return x;
}
TEST(Reduction, wide_rows_are_added_block_by_block) {
  for (int64_t n : {64, 100, 256, 257, 1024, 1500, 5000}) {
    for (int64_t rows : {1, 2, 7, 8, 15, 32, 33, 63, 64, 95, 300, 1100, 2111}) {
      const auto x = numbers<float>(rows * n, 1);
      const auto expected = sum_by_blocks(x, rows, n);
      for (Isa isa : isas_here())
        ASSERT_TRUE(same_bits(reduce(x, Shape(rows, n), {Kind::sum, {0}, false}, isa, 2), expected))
            << rows << " " << n;
    }
  }
}

// Larger than any cache here, so that results are streamed, also to where vectors are not aligned.
TEST(Reduction, streamed_results_of_few_rows_are_the_same) {
  for (int64_t rows : {3, 11}) {
    const int64_t n = last_level_cache_bytes() / 4 / (2 * rows) + 1003;
    const auto x = numbers<float>(2 * rows * n, 1);
    const auto y = reduce(x, Shape(2, rows, n), {Kind::sum, {1}, false}, host_isa(), 2);
    for (int64_t k = 0; k < 2 * n; ++k) {
      const int64_t first = k / n * rows * n + k % n;
      float sum = x[static_cast<size_t>(first)];
      for (int64_t r = 1; r < rows; ++r) sum += x[static_cast<size_t>(first + r * n)];
      ASSERT_EQ(y[static_cast<size_t>(k)], sum) << rows << " rows, " << k;
    }
  }
}

TEST(Reduction, streamed_results_of_short_rows_are_the_same) {
  const int64_t rows = last_level_cache_bytes() / 4 / 7 + 1003;
  const auto x = numbers<float>(rows * 7, 1);
  const std::vector<float> few(x.end() - 7 * 2000, x.end());
  const Reduction r{Kind::sum, {1}, false};
  const auto expected = reduce(few, Shape(2000, 7), r, host_isa());
  const Shape shape(rows, 7), shapes[] = {shape};
  const ElementwiseKernel kernel(program_of<float>(1), shape, shapes, r);
  for (int64_t beyond_line : {0, 1}) {
    std::vector<float> y(static_cast<size_t>(rows) + 32, -1);
    const auto address = reinterpret_cast<uintptr_t>(y.data());
    const int64_t offset = static_cast<int64_t>((64 - address % 64) % 64 / sizeof(float)) + beyond_line;
    const void* const in[] = {x.data()};
    void* const out[] = {y.data() + offset};
    kernel.run(in, out, nullptr, 2);
    const auto end = y.begin() + offset + rows;
    EXPECT_TRUE(same_bits(std::vector<float>(end - 2000, end), expected));
    EXPECT_TRUE(std::all_of(end, y.end(), [](float v) { return v == -1; }));
  }
}

TEST(Reduction, of_nothing_has_the_neutral_value) {
  const std::vector<float> x;
  for (const Shape& shape : {Shape(0), Shape(0, 3), Shape(4, 0), Shape(2, 0, 3)}) {
    std::vector<int> all;
    for (int d = 0; d < shape.rank(); ++d) all.push_back(d);
    EXPECT_EQ(reduce(x, shape, {Kind::sum, all, false}, host_isa())[0], 0);
    EXPECT_EQ(reduce(x, shape, {Kind::prod, all, false}, host_isa())[0], 1);
    EXPECT_EQ(reduce(x, shape, {Kind::max, all, false}, host_isa())[0], -INFINITY);
    EXPECT_EQ(reduce(x, shape, {Kind::min, all, false}, host_isa())[0], INFINITY);
    EXPECT_TRUE(std::isnan(reduce(x, shape, {Kind::mean, all, false}, host_isa())[0]));
  }
  EXPECT_EQ(reduce(x, Shape(0, 3), {Kind::sum, {0}, false}, host_isa()), std::vector<float>(3, 0));
  EXPECT_TRUE(reduce(x, Shape(0, 3), {Kind::sum, {1}, false}, host_isa()).empty());
  EXPECT_EQ(reduce(x, Shape(4, 0, 5), {Kind::sum, {0, 1}, false}, host_isa()), std::vector<float>(5, 0));
}

TEST(Reduction, nan_propagates_from_any_place) {
  for (size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{2500}, size_t{4999}}) {
    auto x = numbers<float>(5000, 1);
    x[at] = std::numeric_limits<float>::quiet_NaN();
    for (Kind kind : {Kind::sum, Kind::max, Kind::min, Kind::prod}) {
      EXPECT_TRUE(std::isnan(reduce(x, Shape(5000), {kind, {0}, false}, host_isa())[0]));
    }
  }
}

template <class T>
void check_nan_in_short_rows() {
  for (int64_t n = 1; n < 40; ++n) {
    for (int64_t at = 0; at < n; ++at) {
      auto x = numbers<T>(19 * n, 1);
      x[static_cast<size_t>(7 * n + at)] = std::numeric_limits<T>::quiet_NaN();
      for (Kind kind : {Kind::sum, Kind::max, Kind::min, Kind::prod}) {
        const auto y = reduce(x, Shape(19, n), {kind, {1}, false}, host_isa());
        for (size_t r = 0; r < y.size(); ++r) ASSERT_EQ(std::isnan(y[r]), r == 7) << n << " at " << at;
      }
    }
  }
}
TEST(Reduction, nan_in_a_short_row_stays_in_its_row) {
  check_nan_in_short_rows<float>();
  check_nan_in_short_rows<double>();
}

TEST(Reduction, short_rows_of_minus_zero_sum_to_minus_zero) {
  for (int64_t n = 1; n < 70; ++n) {
    const std::vector<float> x(static_cast<size_t>(20 * n), -0.f);
    for (Isa isa : isas_here()) {
      for (float y : reduce(x, Shape(20, n), {Kind::sum, {1}, false}, isa)) ASSERT_TRUE(std::signbit(y)) << n;
    }
  }
}

TEST(Reduction, of_one_element_is_that_element) {
  EXPECT_TRUE(std::signbit(reduce<float>({-0.f}, Shape(1), {Kind::sum, {0}, false}, host_isa())[0]));
}

TEST(Reduction, with_fewer_rows_equals_a_plan_for_them) {
  const auto x = numbers<float>(300 * 6, 1);
  for (const std::vector<int>& axes : {std::vector<int>{0}, {1}, {0, 1}}) {
    const Shape planned(300, 6), shapes[] = {planned};
    const ElementwiseKernel kernel(program_of<float>(1), planned, shapes, Reduction{Kind::mean, axes, false});
    for (int64_t rows : {1, 7, 200}) {
      const std::vector<float> part(x.begin(), x.begin() + rows * 6);
      const auto expected = reduce(part, Shape(rows, 6), {Kind::mean, axes, false}, host_isa());
      auto got = run_kernel<float>(kernel, {x}, 2, rows);
      got.resize(expected.size());
      EXPECT_TRUE(same_bits(got, expected)) << rows;
    }
  }
}

TEST(Reduction, keeps_dimensions_when_asked_and_refuses_bad_axes) {
  const Shape shape(2, 3), shapes[] = {shape};
  const auto program = program_of<float>(1);
  EXPECT_EQ(ElementwiseKernel(program, shape, shapes, Reduction{Kind::sum, {0}, true}).result_shape(), Shape(1, 3));
  EXPECT_EQ(ElementwiseKernel(program, shape, shapes, Reduction{Kind::sum, {-1}, false}).result_shape(), Shape(2));
  EXPECT_THROW(ElementwiseKernel(program, shape, shapes, Reduction{Kind::sum, {2}, false}), InvalidArgument);
  EXPECT_THROW(ElementwiseKernel(program, shape, shapes, Reduction{Kind::sum, {1, -1}, false}), InvalidArgument);
}

}  // namespace
}  // namespace martello::cpu
