#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/naive_reduce.h>
#include <martello/ops/internal/softmax_loops.h>
#include <martello/ops/internal/test_images.h>
#include <martello/ops/softmax.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace martello::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double naive_logsumexp(const std::vector<double>& v) {
  double m = -kInf, s = 0;
  for (const double x : v) m = std::max(m, x);
  if (std::isinf(m)) return m;
  for (const double x : v) s += std::exp(x - m);
  return m + std::log(s);
}

// x - logsumexp(x) along an axis, and exp of it.
HostTensor naive_log_softmax(const HostTensor& x, int axis, bool take_exp) {
  const Shape& shape = x.shape();
  axis = normalized_axis(axis, shape.rank());
  const int64_t n = shape[axis], inner = shape.num_elements(axis + 1, shape.rank());
  const HostTensor total = internal::naive_reduce(x, {.axes = axis}, naive_logsumexp);
  HostTensor y(shape, f64);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double v = x.at(i) - total.at(i / (n * inner) * inner + i % inner);
    y.set(i, take_exp ? std::exp(v) : v);
  }
  return y;
}

OpCase softmax_row(std::string label, HostTensor x, int axis) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{softmax(in[0], {.axis = axis})}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_log_softmax(in[0], axis, true)}; }};
}
OpCase log_softmax_row(std::string label, HostTensor x, int axis) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{log_softmax(in[0], {.axis = axis})}; },
          .reference = [=](const HostTensors& in) { return HostTensors{naive_log_softmax(in[0], axis, false)}; }};
}
OpCase logsumexp_row(std::string label, HostTensor x, ReduceAttrs a) {
  return {.label = std::move(label),
          .inputs = {std::move(x)},
          .build = [=](TensorList in) { return TensorList{logsumexp(in[0], a)}; },
          .reference =
              [=](const HostTensors& in) { return HostTensors{internal::naive_reduce(in[0], a, naive_logsumexp)}; }};
}

}  // namespace

OP_TEST(softmax, twice(softmax_row("few classes", randn({4, 7}), -1)), softmax_row("many classes", randn({3, 133}), 1),
        softmax_row("one class", randn({5, 1}), 1), softmax_row("vector", randn({19}), 0),
        twice(softmax_row("first axis", randn({5, 37}), 0)), softmax_row("middle axis", randn({3, 5, 7}), 1),
        softmax_row("many rows", randn({150, 10}), 1), softmax_row("two blocks", randn({7, 23}), 1),
        softmax_row("four blocks", randn({7, 31}), 1), softmax_row("rank six", randn({2, 1, 3, 2, 2, 3}), -3),
        value_only(softmax_row("many columns", randn({3, 4101}), 0)), softmax_row("no rows", randn({0, 4}), 1),
        softmax_row("no classes", randn({4, 0}), 1),
        value_only(softmax_row("large logits", HostTensor::of<double>({1000, 999, -1000, 0}), 0)),
        value_only(softmax_row("masked", HostTensor::of<double>({-kInf, 1, 2, -kInf}), 0)));

OP_TEST(log_softmax, twice(log_softmax_row("few classes", randn({4, 7}), -1)),
        log_softmax_row("many classes", randn({3, 133}), 1), log_softmax_row("first axis", randn({5, 37}), 0),
        log_softmax_row("middle axis", randn({3, 5, 7}), 1), log_softmax_row("many rows", randn({150, 10}), 1),
        log_softmax_row("two blocks", randn({7, 23}), 1), log_softmax_row("four blocks", randn({7, 31}), 1),
        value_only(log_softmax_row("large logits", HostTensor::of<double>({1000, 999, -1000, 0}), 0)),
        value_only(log_softmax_row("many columns", randn({3, 4101}), 0)), log_softmax_row("no rows", randn({0, 4}), 1));

OP_TEST(logsumexp, twice(logsumexp_row("all", randn({4, 7}), {})), logsumexp_row("scalar", randn({}), {}),
        logsumexp_row("last axis", randn({70, 21}), {.axes = -1}),
        logsumexp_row("rows", randn({21, 70}), {.axes = 0, .keep_dims = true}),
        value_only(logsumexp_row("many columns", randn({3, 4101}), {.axes = 0})),
        logsumexp_row("two neighbours", randn({3, 4, 5, 2}), {.axes = {1, 2}}),
        twice(logsumexp_row("two apart", randn({3, 4, 5}), {.axes = {0, 2}})),
        logsumexp_row("rank six", randn({2, 3, 1, 2, 3, 2}), {.axes = {-1, 1, 3}, .keep_dims = true}),
        value_only(logsumexp_row("nothing", randn({3, 0}), {.axes = 1})),
        value_only(logsumexp_row("minus infinity", HostTensor::full({2, 3}, f64, -kInf), {.axes = 1})),
        value_only(logsumexp_row("infinity", HostTensor::of<double>({1, kInf, 2}), {})));

namespace {

const OpTestRows softmax_image_rows("softmax", __FILE__, __LINE__, image_rows<int>({-1, 1}, softmax_row));
const OpTestRows log_softmax_image_rows("log_softmax", __FILE__, __LINE__, image_rows<int>({1, -1}, log_softmax_row));
const OpTestRows logsumexp_image_rows(
    "logsumexp", __FILE__, __LINE__,
    image_rows<ReduceAttrs>({{.axes = -1}, {.axes = {1, 2}}, {.axes = 1, .keep_dims = true}, {.axes = {1, 3}}},
                            logsumexp_row));

}  // namespace

OP_REFUSES(softmax, axis_out_of_range, [] { softmax(placeholder({2}, f32, "x"), {.axis = 3}); },
           {"softmax", "axis 3", "[2]"})
OP_REFUSES(softmax, scalars, [] { softmax(placeholder({}, f32, "x")); }, {"softmax", "axis -1", "[]"})
OP_REFUSES(log_softmax, integers, [] { log_softmax(placeholder({2}, i32, "x")); }, {"log_softmax", "i32", "f32"})
OP_REFUSES(logsumexp, axis_named_twice,
           [] {
             logsumexp(placeholder({2}, f32, "x"), {.axes = {0, 0}});
           },
           {"logsumexp", "second time"})

namespace {

template <class T>
void expect_same_bits_on_all_levels(const cpu::SoftmaxLoops<T>& a, const cpu::SoftmaxLoops<T>& b) {
  for (const int64_t n : {1, 3, 4, 8, 10, 15, 16, 17, 24, 31, 32, 33, 40, 48, 63, 64, 65, 1000}) {
    const HostTensor x = randn({5, n}).cast(dtype_of<T>);
    const T* in = x.data<T>().data();
    std::vector<T> ya(static_cast<size_t>(5 * n)), yb(ya), max(5), sa(5), sb(5);
    const auto same = [&] { return std::memcmp(ya.data(), yb.data(), ya.size() * sizeof(T)) == 0; };
    a.softmax_rows(in, ya.data(), max.data(), sa.data(), 5, n);
    b.softmax_rows(in, yb.data(), max.data(), sb.data(), 5, n);
    EXPECT_TRUE(same() && sa == sb) << "softmax_rows " << n;
    a.log_softmax_rows(in, ya.data(), 5, n);
    b.log_softmax_rows(in, yb.data(), 5, n);
    EXPECT_TRUE(same()) << "log_softmax_rows " << n;
    a.logsumexp_rows(in, ya.data(), 5, n);
    b.logsumexp_rows(in, yb.data(), 5, n);
    EXPECT_TRUE(std::equal(ya.begin(), ya.begin() + 5, yb.begin())) << "logsumexp_rows " << n;
    a.softmax_columns(in, ya.data(), 5, n, n);
    b.softmax_columns(in, yb.data(), 5, n, n);
    EXPECT_TRUE(same()) << "softmax_columns " << n;
    a.log_softmax_columns(in, ya.data(), 5, n, n);
    b.log_softmax_columns(in, yb.data(), 5, n, n);
    EXPECT_TRUE(same()) << "log_softmax_columns " << n;
  }
}

}  // namespace

TEST(softmax_loops, have_the_same_bits_on_every_instruction_set) {
  expect_same_bits_on_all_levels(cpu::v2::softmax_loops_f32, cpu::softmax_loops<float>());
  expect_same_bits_on_all_levels(cpu::v2::softmax_loops_f64, cpu::softmax_loops<double>());
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_same_bits_on_all_levels(cpu::v3::softmax_loops_f32, cpu::softmax_loops<float>());
  expect_same_bits_on_all_levels(cpu::v3::softmax_loops_f64, cpu::softmax_loops<double>());
}

TEST(softmax_loops, keep_nan_within_its_row) {
  for (const int64_t n : {1, 10, 16, 17, 33, 64, 65, 200}) {
    std::vector<float> x(static_cast<size_t>(6 * n), 1), y(x), z(x);
    x[static_cast<size_t>(3 * n - 1)] = std::numeric_limits<float>::quiet_NaN();
    cpu::softmax_loops<float>().softmax_rows(x.data(), y.data(), nullptr, nullptr, 6, n);
    cpu::softmax_loops<float>().log_softmax_rows(x.data(), z.data(), 6, n);
    for (int64_t i = 0; i < 6 * n; ++i) {
      EXPECT_EQ(std::isnan(y[static_cast<size_t>(i)]), i / n == 2) << n;
      EXPECT_EQ(std::isnan(z[static_cast<size_t>(i)]), i / n == 2) << n;
    }
  }
}

TEST(softmax_loops, give_nan_for_a_row_of_minus_infinity) {
  std::vector<float> x(20, -std::numeric_limits<float>::infinity()), y(20);
  cpu::softmax_loops<float>().softmax_rows(x.data(), y.data(), nullptr, nullptr, 1, 20);
  EXPECT_TRUE(std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); }));
}

}  // namespace martello::testing
