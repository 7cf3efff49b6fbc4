#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/example_kernels.h>

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace martello::cpu {
namespace {

using A = ElementwiseArg;

// Numbers around the roundings of bf16, NaN and infinities among them.
std::vector<float> numbers(size_t n) {
  std::vector<float> x;
  for (size_t i = 0; i < n; ++i) x.push_back(std::bit_cast<float>(static_cast<uint32_t>(i) * 2654435761u));
  return x;
}

// y = -x as f32 and as bf16.
ElementwiseProgram both() {
  ElementwiseProgram program = program_of<float>(1, {{&formula_example_neg, {A::input(0)}, {}}});
  program.outputs = {{A::value(0), f32}, {A::value(0), bf16}};
  return program;
}

void expect_rounded(const ElementwiseKernel& kernel, const std::vector<float>& x, size_t shift, int threads) {
  std::vector<float> wide(x.size() + shift);
  std::vector<uint16_t> narrow(x.size() + shift + 1, 77);
  const void* in[] = {x.data()};
  void* out[] = {wide.data() + shift, narrow.data() + shift};
  kernel.run(in, out, nullptr, threads);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(narrow[i + shift], BFloat16(wide[i + shift]).bits) << i << " of " << x.size() << ", " << wide[i + shift];
  ASSERT_EQ(narrow.back(), 77);
}

TEST(ElementwiseBf16, has_the_bits_of_a_cast_for_every_size_and_level) {
  for (size_t n = 0; n <= 600; n += n < 70 ? 1 : 23) {
    const Shape shapes[] = {Shape(static_cast<int64_t>(n))};
    for (Isa isa : isas_here())
      for (size_t shift : {size_t{0}, size_t{3}})
        expect_rounded(ElementwiseKernel(both(), shapes[0], shapes, std::nullopt, isa), numbers(n), shift, 1);
  }
}

// Larger than the last cache, so that results are streamed.
TEST(ElementwiseBf16, streams_what_is_large) {
  const auto n = static_cast<size_t>(last_level_cache_bytes()) / sizeof(float) + 4099;
  const Shape shapes[] = {Shape(static_cast<int64_t>(n))};
  for (Isa isa : isas_here())
    for (size_t shift : {size_t{0}, size_t{1}})
      expect_rounded(ElementwiseKernel(both(), shapes[0], shapes, std::nullopt, isa), numbers(n), shift, 2);
}

// The wide result lies over the input; the other is streamed beside it.
TEST(ElementwiseBf16, streams_beside_a_result_in_place) {
  const auto n = static_cast<size_t>(last_level_cache_bytes()) / sizeof(float) + 4099;
  const Shape shapes[] = {Shape(static_cast<int64_t>(n))};
  const std::vector<float> x = numbers(n);
  for (Isa isa : isas_here()) {
    std::vector<float> wide = x;
    std::vector<uint16_t> narrow(n + 1, 77);
    const void* in[] = {wide.data()};
    void* out[] = {wide.data(), narrow.data()};
    ElementwiseKernel(both(), shapes[0], shapes, std::nullopt, isa).run(in, out, nullptr, 2);
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(-x[i])) << i;
      ASSERT_EQ(narrow[i], BFloat16(wide[i]).bits) << i;
    }
    ASSERT_EQ(narrow.back(), 77);
  }
}

TEST(ElementwiseBf16, is_no_input_and_no_result_of_f64) {
  const Shape shapes[] = {Shape(3)};
  ElementwiseProgram from = both(), wide = program_of<double>(1);
  from.input_dtypes = {bf16};
  wide.outputs[0].dtype = bf16;
  for (const ElementwiseProgram& program : {from, wide})
    EXPECT_CONTAINS(testing::error_of<InvalidArgument>([&] { ElementwiseKernel(program, shapes[0], shapes); }), "bf16");
}

}  // namespace
}  // namespace martello::cpu
