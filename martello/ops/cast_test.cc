#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/cast.h>
#include <martello/ops/internal/cast_loops.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace martello::testing {
namespace {

// Every pair of dtypes, with numbers that do not fit the smaller ones.
std::vector<OpCase> rows() {
  const HostTensor corners =
      HostTensor::of<double>({-INFINITY, -3e9, -1.5, -0.0, 0, 0.4, 1, 2.5, 300, 65504, 3e9, 1e19, INFINITY, NAN});
  const HostTensor many = uniform({3, 5001}, -400, 400);
  std::vector<OpCase> cases;
  for (int from = 0; from < kDTypes; ++from)
    for (int to = 0; to < kDTypes; ++to)
      for (const HostTensor& x : {corners, many, HostTensor(Shape(0, 2), f64), HostTensor(1.5)}) {
        const auto a = static_cast<DType>(from), b = static_cast<DType>(to);
        cases.push_back({.label = str(a, " to ", b, " ", x.shape()),
                         .inputs = {x.cast(a)},
                         .build = [b](TensorList in) { return TensorList{cast(in[0], b)}; },
                         .reference = [a, b](const HostTensors& in) { return HostTensors{in[0].cast(a).cast(b)}; },
                         .dtypes = {a},
                         .gradient = false});
      }
  cases.push_back({.label = "gradient",
                   .inputs = {randn({3, 4})},
                   .build = [](TensorList in) { return TensorList{cast(cast(in[0], f64), in[0].dtype())}; },
                   .reference = [](const HostTensors& in) { return in; },
                   .second_order = true});
  return cases;
}

std::vector<OpCase> like_rows(Tensor (*f)(Operand, Name), double value) {
  std::vector<OpCase> cases;
  for (int dtype = 0; dtype < kDTypes; ++dtype)
    for (const Shape& shape : {Shape(), Shape(0), Shape(3, 217)})
      cases.push_back({.label = str(static_cast<DType>(dtype), shape),
                       .inputs = {HostTensor::full(shape, static_cast<DType>(dtype), 1)},
                       .build = [f](TensorList x) { return TensorList{f(x[0], "y")}; },
                       .reference =
                           [value](const HostTensors& in) {
                             return HostTensors{HostTensor::full(in[0].shape(), in[0].dtype(), value)};
                           },
                       .dtypes = {static_cast<DType>(dtype)},
                       .gradient = false});
  return cases;
}

}  // namespace

static const OpTestRows op_test_rows_cast("cast", __FILE__, __LINE__, rows());
static const OpTestRows op_test_rows_zeros_like("zeros_like", __FILE__, __LINE__, like_rows(zeros_like, 0));
static const OpTestRows op_test_rows_ones_like("ones_like", __FILE__, __LINE__, like_rows(ones_like, 1));

// Numbers around every rounding of bf16, NaN with all kinds of bits among them, at every level.
TEST(cast_op, rounds_to_bf16_at_every_level) {
  constexpr size_t kCount = 65536 * 7;
  std::vector<float> x(kCount), wide(kCount);
  std::vector<uint16_t> y(kCount);
  constexpr uint32_t kLow[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1234};
  for (uint32_t i = 0; i < kCount; ++i) x[i] = std::bit_cast<float>(i / 7 << 16 | kLow[i % 7]);
  const cpu::CastLoops* const levels[] = {&cpu::v2::bf16_loops, &cpu::v3::bf16_loops, &cpu::v4::bf16_loops};
  for (int level = 0; level <= static_cast<int>(cpu::host_isa()); ++level) {
    levels[level]->narrow(x.data(), y.data(), kCount - 3);
    levels[level]->widen(y.data(), wide.data(), kCount - 3);
    for (size_t i = 0; i < kCount - 3; ++i) {
      ASSERT_EQ(y[i], BFloat16(x[i]).bits) << x[i] << " level " << level;
      ASSERT_EQ(std::isnan(wide[i]), std::isnan(x[i])) << level;
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), uint32_t{y[i]} << 16);
    }
  }
}

TEST(cast_op, passes_known_sizes_on) {
  const GraphScope scope;
  const Tensor x = constant(HostTensor::of<int32_t>({3, 4}));
  EXPECT_EQ(cast(x, i64).dtype(), i64);
  EXPECT_EQ(cast(x, f32).shape(), Shape(2));
}

}  // namespace martello::testing
