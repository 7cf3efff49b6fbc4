#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/philox.h>
#include <martello/kernel/cpu/example_kernels.h>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace martello::cpu {
namespace {

using testing::error_of;

using A = ElementwiseArg;

template <class T>
std::vector<T> numbers(int64_t n, uint32_t key) {
  std::vector<T> x;
  for (int64_t i = 0; i < n; ++i) {
    x.push_back(
        static_cast<T>(4 * uniform_f64(Philox::block({static_cast<uint32_t>(i), 0, 0, 0}, {key, 7})[0], 0) - 2));
  }
  return x;
}

// d = exp(-x y) + max(x, 0.25) * x, a graph whose values are wanted again later.
std::vector<ElementwiseInstr> graph_instrs() {
  return {{&formula_example_mul, {A::input(0), A::input(1)}, {}},
          {&formula_example_neg, {A::value(0)}, {}},
          {&formula_example_exp, {A::value(1)}, {}},
          {&formula_example_max, {A::input(0), A::constant(0.25)}, {}},
          {&formula_example_mul, {A::value(3), A::input(0)}, {}},
          {&formula_example_add, {A::value(2), A::value(4)}, {}}};
}

template <class T>
std::vector<T> unfused(const std::vector<T>& x, const std::vector<T>& y, Isa isa) {
  const Shape shape(static_cast<int64_t>(x.size()));
  const auto one = [&](const Formula& f, const std::vector<T>& a, const std::vector<T>& b) {
    const Shape shapes[] = {shape, shape};
    const auto program = program_of<T>(2, {{&f, {A::input(0), A::input(1)}, {}}});
    return run_kernel<T>(ElementwiseKernel(program, shape, shapes, std::nullopt, isa), {a, b});
  };
  const std::vector<T> quarter(x.size(), T(0.25)), xy = one(formula_example_mul, x, y);
  const auto e = one(formula_example_exp, one(formula_example_neg, xy, xy), xy);
  return one(formula_example_add, e, one(formula_example_mul, one(formula_example_max, x, quarter), x));
}

template <class T>
void check_sizes() {
  for (int64_t n = 0; n <= 300; n += n < 70 ? 1 : 23) {
    const auto x = numbers<T>(n, 1), y = numbers<T>(n, 2), expected = unfused(x, y, Isa::v2);
    const Shape shape(n), shapes[] = {shape, shape};
    for (Isa isa : isas_here()) {
      const ElementwiseKernel kernel(program_of<T>(2, graph_instrs()), shape, shapes, std::nullopt, isa);
      EXPECT_TRUE(same_bits(run_kernel<T>(kernel, {x, y}), expected)) << n << " on " << to_string(isa);
    }
  }
}
TEST(Elementwise, fused_equals_unfused_for_every_size_and_level) {
  check_sizes<float>();
  check_sizes<double>();
}

TEST(Elementwise, threads_and_alignment_change_no_bit) {
  const int64_t n = 100003;
  const auto x = numbers<float>(n, 1), y = numbers<float>(n, 2), expected = unfused(x, y, host_isa());
  const Shape shape(n), shapes[] = {shape, shape};
  const ElementwiseKernel kernel(program_of<float>(2, graph_instrs()), shape, shapes);
  for (int threads : {1, 2, 4}) EXPECT_TRUE(same_bits(run_kernel<float>(kernel, {x, y}, threads), expected));
  for (size_t shift = 1; shift < 16; shift += 4) {
    std::vector<float> moved(x.size() + shift), out(x.size() + shift);
    std::copy(x.begin(), x.end(), moved.begin() + static_cast<int64_t>(shift));
    const void* in[] = {moved.data() + shift, y.data()};
    void* outs[] = {out.data() + shift};
    kernel.run(in, outs, nullptr, 2);
    EXPECT_TRUE(same_bits(std::vector<float>(out.begin() + static_cast<int64_t>(shift), out.end()), expected));
  }
}

// The element of `in` that numpy's rules put at coordinates `at` of `out`.
int64_t broadcast_index(const Shape& out, const Shape& in, int64_t index) {
  int64_t result = 0, stride = 1;
  for (int d = out.rank() - 1, k = in.rank() - 1; k >= 0; --d, --k) {
    const int64_t at = index % out[d];
    index /= out[d];
    if (in[k] != 1) result += at * stride;
    stride *= in[k];
  }
  return result;
}

struct RandomShapes {
  Shape out, in[3];
};
RandomShapes random_shapes(uint32_t seed) {
  RandomShapes r;
  uint32_t k = 0;
  const auto draw = [&](uint32_t limit) { return Philox::block({k++, 0, 0, 0}, {seed, 3})[0] % limit; };
  const int rank = static_cast<int>(draw(6));
  const int64_t sizes[] = {1, 2, 3, 5, 8, 17, 40, 130, 300};
  int64_t total = 1;
  for (int d = 0; d < rank; ++d) {
    int64_t size = sizes[draw(9)];
    if (total * size > 200000) size = 2;
    total *= size;
    r.out.push_back(size);
  }
  for (Shape& in : r.in) {
    for (int d = static_cast<int>(draw(3)) ? 0 : static_cast<int>(draw(static_cast<uint32_t>(rank) + 1)); d < rank;
         ++d) {
      in.push_back(draw(3) ? r.out[d] : 1);
    }
  }
  return r;
}

TEST(Elementwise, broadcasts_any_shapes_like_a_naive_loop) {
  const auto program = program_of<float>(3, {{&formula_example_mul, {A::input(0), A::input(1)}, {}},
                                             {&formula_example_sub, {A::input(2), A::value(0)}, {}}});
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const RandomShapes s = random_shapes(seed);
    std::vector<std::vector<float>> x;
    for (uint32_t k = 0; k < 3; ++k) x.push_back(numbers<float>(s.in[k].num_elements(), seed * 3 + k));
    std::vector<float> expected(static_cast<size_t>(s.out.num_elements()));
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto at = [&](size_t k) {
        return x[k][static_cast<size_t>(broadcast_index(s.out, s.in[k], static_cast<int64_t>(i)))];
      };
      expected[i] = at(2) - at(0) * at(1);
    }
    for (Isa isa : isas_here()) {
      const ElementwiseKernel kernel(program, s.out, s.in, std::nullopt, isa);
      ASSERT_TRUE(same_bits(run_kernel<float>(kernel, x, 2), expected))
          << s.out.str() << " from " << s.in[0].str() << s.in[1].str() << s.in[2].str() << " on " << to_string(isa);
    }
  }
}

TEST(Elementwise, runs_with_fewer_rows_than_planned) {
  const auto program = program_of<float>(2, {{&formula_example_add, {A::input(0), A::input(1)}, {}}});
  const Shape out(7, 5, 3), shapes[] = {Shape(7, 1, 3), Shape(5, 1)};
  const ElementwiseKernel kernel(program, out, shapes);
  const auto x = numbers<float>(21, 1), y = numbers<float>(5, 2), all = run_kernel<float>(kernel, {x, y});
  for (int64_t rows = 0; rows <= 7; ++rows) {
    auto part = run_kernel<float>(kernel, {x, y}, 1, rows), expected = all;
    std::fill(expected.begin() + rows * 15, expected.end(), -77.f);
    EXPECT_TRUE(same_bits(part, expected)) << rows;
  }
  EXPECT_THROW(run_kernel<float>(kernel, {x, y}, 1, 8), InternalError);
}

TEST(Elementwise, several_outputs_may_lie_where_inputs_lie) {
  ElementwiseProgram program = program_of<float>(2, {{&formula_example_add, {A::input(0), A::input(1)}, {}},
                                                     {&formula_example_mul, {A::value(0), A::value(0)}, {}},
                                                     {&formula_example_sub, {A::value(1), A::input(1)}, {}}});
  program.outputs = {{A::value(0), f32}, {A::value(2), f32}, {A::input(0), f32}, {A::constant(3), f32}};
  for (int64_t n : {0, 1, 130, 1000}) {
    const auto x = numbers<float>(n, 1), y = numbers<float>(n, 2);
    auto a = x, b = y;
    std::vector<float> c(x.size()), d(x.size());
    const Shape shape(n), shapes[] = {shape, shape};
    const void* in[] = {a.data(), b.data()};
    void* out[] = {a.data(), b.data(), c.data(), d.data()};
    ElementwiseKernel(program, shape, shapes).run(in, out, nullptr, 2);
    for (size_t i = 0; i < x.size(); ++i) {
      const float sum = x[i] + y[i];
      ASSERT_EQ(a[i], sum);
      ASSERT_EQ(b[i], sum * sum - y[i]);
      ASSERT_EQ(c[i], x[i]);
      ASSERT_EQ(d[i], 3);
    }
  }
}

TEST(Elementwise, converts_bytes_on_both_sides) {
  ElementwiseProgram program =
      program_of<float>(2, {{&formula_example_where, {A::input(0), A::input(1), A::constant(-1)}, {}},
                            {&formula_example_affine, {A::value(0)}, {1.5, 0.75}}});
  program.input_dtypes = {boolean, u8};
  program.outputs = {{A::value(1), u8}, {A::value(0), boolean}, {A::input(1), f32}};
  std::vector<uint8_t> condition, x, as_u8(1000), as_bool(1000);
  std::vector<float> as_f32(1000);
  for (int i = 0; i < 1000; ++i) {
    condition.push_back(i % 3 == 0);
    x.push_back(static_cast<uint8_t>(i));
  }
  const Shape shape(10, 100), shapes[] = {Shape(10, 100), shape};
  const void* in[] = {condition.data(), x.data()};
  void* out[] = {as_u8.data(), as_bool.data(), as_f32.data()};
  ElementwiseKernel(program, shape, shapes).run(in, out, nullptr, 1);
  for (size_t i = 0; i < 1000; ++i) {
    const float chosen = condition[i] ? x[i] : -1, scaled = chosen * 1.5f + 0.75f;
    ASSERT_EQ(as_u8[i], static_cast<uint8_t>(std::min(255.f, std::max(0.f, scaled))));
    ASSERT_EQ(as_bool[i], chosen != 0);
    ASSERT_EQ(as_f32[i], x[i]);
  }
}

// More live values than registers: all 62 products are wanted at the end.
TEST(Elementwise, keeps_many_values_alive) {
  std::vector<ElementwiseInstr> instrs;
  for (int k = 0; k < 32; ++k) instrs.push_back({&formula_example_affine, {A::input(0)}, {k + 1.0, 0.5}});
  for (int k = 1; k < 32; ++k)
    instrs.push_back({&formula_example_add, {A::value(k == 1 ? 0 : 30 + k), A::value(k)}, {}});
  const Shape shape(333), shapes[] = {shape};
  const auto x = numbers<double>(333, 1);
  const auto y = run_kernel<double>(ElementwiseKernel(program_of<double>(1, instrs), shape, shapes), {x});
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = x[i] * 1 + 0.5;
    for (int k = 1; k < 32; ++k) expected += x[i] * (k + 1) + 0.5;
    ASSERT_EQ(y[i], expected);
  }
}

// Larger than any cache here, so that stores are streamed; an output that begins between vectors as well.
TEST(Elementwise, streamed_results_are_the_same) {
  const int64_t n = (int64_t{40} << 20) + 5;
  const auto program = program_of<float>(1, {{&formula_example_affine, {A::input(0)}, {2, 1}}});
  const Shape shape(n), shapes[] = {shape};
  std::vector<float> x(static_cast<size_t>(n)), y(static_cast<size_t>(n) + 3);
  for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i % 1000);
  const void* in[] = {x.data()};
  void* out[] = {y.data() + 3};
  ElementwiseKernel(program, shape, shapes).run(in, out, nullptr, 2);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[static_cast<size_t>(i) + 3], static_cast<float>(i % 1000) * 2 + 1);
}

TEST(Elementwise, refuses_what_it_cannot_do_with_both_values) {
  const Shape out(4, 3), bad[] = {Shape(4)};
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { ElementwiseKernel(program_of<float>(1), out, bad); }),
                  "[4] does not broadcast to [4, 3]");
  auto program = program_of<float>(1);
  program.input_dtypes = {i32};
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { ElementwiseKernel(program, out, bad); }), "input 0 is i32");
  program = program_of<float>(1, {{&formula_example_neg, {A::value(0)}, {}}});
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { ElementwiseKernel(program, out, bad); }), "wants value 0");
}

}  // namespace
}  // namespace martello::cpu
