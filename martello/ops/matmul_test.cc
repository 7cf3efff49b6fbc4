#include <gtest/gtest.h>
#include <martello/graph/core_ops.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/gemm_loops.h>
#include <martello/ops/matmul.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <cmath>

namespace martello {
namespace {

using testing::integers;
using testing::randn;
using testing::run_kernel;

// Index into a tensor that broadcasts to the batch shape `batch`, of matrix number i.
int64_t matrix_of(const Shape& shape, const Shape& batch, int64_t i) {
  int64_t index = 0, step = 1;
  for (int d = batch.rank() - 1; d >= 0; --d) {
    const int64_t at = i % batch[d];
    i /= batch[d];
    const int own = d - (batch.rank() - (shape.rank() - 2));
    if (own < 0) continue;
    index += shape[own] == 1 ? 0 : at * step;
    step *= shape[own];
  }
  return index;
}

Shape batch_of(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims;
  for (int i = std::max(a.rank(), b.rank()); i > 2; --i) {
    const int64_t da = i <= a.rank() ? a[-i] : 1, db = i <= b.rank() ? b[-i] : 1;
    dims.push_back(da == 1 ? db : da);
  }
  return Shape(dims);
}

HostTensor naive_matmul(const HostTensor& a, const HostTensor& b, MatmulAttrs attrs) {
  const Shape batch = batch_of(a.shape(), b.shape());
  const int64_t m = a.shape()[attrs.transpose_a ? -1 : -2], k = a.shape()[attrs.transpose_a ? -2 : -1];
  const int64_t n = b.shape()[attrs.transpose_b ? -2 : -1];
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  HostTensor y(shape, f64);
  for (int64_t p = 0; p < y.num_elements(); ++p) {
    const int64_t matrix = p / (m * n), i = p / n % m, j = p % n;
    const int64_t a0 = matrix_of(a.shape(), batch, matrix) * m * k, b0 = matrix_of(b.shape(), batch, matrix) * k * n;
    double sum = 0;
    for (int64_t q = 0; q < k; ++q)
      sum += a.at(a0 + (attrs.transpose_a ? q * m + i : i * k + q)) *
             b.at(b0 + (attrs.transpose_b ? j * k + q : q * n + j));
    y.set(p, sum);
  }
  return y;
}

testing::OpCase row(std::string label, Shape a, Shape b, MatmulAttrs attrs = {}) {
  return {.label = std::move(label),
          .inputs = {randn(a, 1), randn(b, 2)},
          .build = [=](TensorList x) { return TensorList{matmul(x[0], x[1], attrs)}; },
          .reference = [=](const HostTensors& x) { return HostTensors{naive_matmul(x[0], x[1], attrs)}; },
          .second_order = a.num_elements() < 100,
          .tolerance = 1e-4};
}
testing::OpCase whole_numbers(DType dtype, MatmulAttrs attrs) {
  auto c = row(str(dtype, attrs.transpose_a, attrs.transpose_b), {5, 5}, {5, 5}, attrs);
  c.inputs = {integers({5, 5}, -9, 9, dtype, 1), integers({5, 5}, -9, 9, dtype, 2)};
  c.gradient = c.second_order = false;
  c.dtypes = {dtype};
  return c;
}

constexpr MatmulAttrs kTN{.transpose_a = true}, kNT{.transpose_b = true}, kTT{true, true};

OP_TEST(matmul, row("plain", {3, 4}, {4, 5}), row("TN", {4, 3}, {4, 5}, kTN), row("NT", {3, 4}, {5, 4}, kNT),
        row("TT", {4, 3}, {5, 4}, kTT), row("one element", {1, 1}, {1, 1}), row("row", {1, 70}, {70, 33}),
        row("column", {33, 70}, {70, 1}), row("outer product", {17, 1}, {1, 19}), row("odd", {13, 37}, {37, 67}),
        row("odd TN", {37, 13}, {37, 67}, kTN), row("odd NT", {13, 37}, {67, 37}, kNT),
        row("odd TT", {37, 13}, {67, 37}, kTT), row("no rows", {0, 4}, {4, 5}), row("no columns", {3, 4}, {4, 0}),
        row("sums over nothing", {3, 0}, {0, 5}), row("no batch", {0, 3, 4}, {4, 5}),
        row("batch", {2, 3, 4}, {2, 4, 5}), row("shared b", {2, 6, 3, 4}, {4, 5}),
        row("shared b NT", {2, 3, 4}, {5, 4}, kNT), row("shared b TN", {2, 4, 3}, {4, 5}, kTN),
        row("shared a", {3, 4}, {2, 4, 5}), row("both broadcast", {2, 1, 3, 4}, {1, 3, 4, 2}),
        row("both broadcast TT", {2, 1, 4, 3}, {3, 2, 4}, kTT), row("rank 6", {2, 1, 2, 1, 2, 3}, {1, 2, 1, 2, 3, 2}),
        whole_numbers(i32, {}), whole_numbers(i64, {}), whole_numbers(i32, kTN), whole_numbers(i64, kNT),
        whole_numbers(i32, kTT));

// Sizes on both sides of the border between own loops and the library, in all forms.
TEST(matmul, is_right_and_keeps_its_bits_with_any_number_of_threads) {
  const int64_t sizes[][3] = {{32, 16, 64},  {64, 10, 256},  {100, 300, 70},
                              {1, 500, 600}, {129, 257, 65}, {300, 1, 900}};
  for (DType dtype : {f32, f64})
    for (const auto& [m, k, n] : sizes)
      for (const MatmulAttrs attrs : {MatmulAttrs{}, kTN, kNT, kTT}) {
        const HostTensor a = randn(attrs.transpose_a ? Shape(k, m) : Shape(m, k), 3).cast(dtype);
        const HostTensor b = randn(attrs.transpose_b ? Shape(n, k) : Shape(k, n), 4).cast(dtype);
        const HostTensor y = run_kernel(op_matmul, {a, b}, Attrs(attrs))[0], expected = naive_matmul(a, b, attrs);
        const double tolerance = dtype == f32 ? 1e-4 : 1e-12;
        for (int64_t i = 0; i < y.num_elements(); ++i)
          ASSERT_NEAR(y.at(i), expected.at(i), tolerance * std::sqrt(static_cast<double>(k)) * 4);
        for (int threads : {2, 4})
          EXPECT_TRUE(y.same_bits(run_kernel(op_matmul, {a, b}, Attrs(attrs), {.threads = threads})[0]))
              << m << "x" << k << "x" << n << " " << threads << " threads";
      }
}

TEST(matmul, library_kernels_take_batches_that_broadcast) {
  const Shape shapes[][2] = {{{4, 70, 80}, {4, 80, 90}},
                             {{4, 70, 80}, {80, 90}},
                             {{2, 1, 70, 80}, {1, 3, 80, 90}},
                             {{70, 80}, {5, 80, 90}},
                             {{2, 3, 70, 80}, {3, 80, 90}}};
  for (const auto& [sa, sb] : shapes) {
    const HostTensor a = randn(sa, 5).cast(f32), b = randn(sb, 6).cast(f32);
    const HostTensor y = run_kernel(op_matmul, {a, b}, Attrs(MatmulAttrs{}), {.threads = 2})[0];
    const HostTensor expected = naive_matmul(a, b, {});
    for (int64_t i = 0; i < y.num_elements(); ++i) ASSERT_NEAR(y.at(i), expected.at(i), 1e-3) << sa.str() << sb.str();
  }
}

// A sum over rows whose number depends on data, as in the gradient of a matrix behind boolean_mask.
TEST(matmul, sums_over_the_rows_of_the_run) {
  for (const auto& [n, dtype] : {std::pair{8, f32}, {400, f32}, {8, bf16}, {400, bf16}}) {
    const HostTensor a = randn({50, 60}, 7).cast(dtype), b = randn({50, n}, 8).cast(dtype);
    const TensorSpec in[] = {{a.shape(), dtype}, {b.shape(), dtype}}, out[] = {{Shape(60, n), f32}};
    const Attrs attrs(MatmulAttrs{.transpose_a = true, .widen = dtype == bf16});
    const Kernel kernel = op_matmul.cpu(KernelPlan{{"test", "matmul"}, in, out, &attrs, 1});
    HostTensor y({60, n}, f32), part_a({20, 60}, dtype), part_b({20, n}, dtype);
    for (int64_t i = 0; i < 1200; ++i) part_a.set(i, a.at(i));
    for (int64_t i = 0; i < 20 * n; ++i) part_b.set(i, b.at(i));
    RunTensor inputs[] = {{const_cast<std::byte*>(a.raw()), 1200, 20}, {const_cast<std::byte*>(b.raw()), 20 * n, 20}};
    RunTensor outputs[] = {{y.mutable_raw(), 60 * n, 60}};
    Buffer scratch(kernel.scratch_bytes() + 1);
    RunParams params;
    const KernelRun run{inputs, outputs, scratch.data(), &params, 1};
    const BoundKernel bound = kernel.bind(run);
    bound(run);
    const HostTensor expected = naive_matmul(part_a, part_b, kTN);
    for (int64_t i = 0; i < y.num_elements(); ++i) ASSERT_NEAR(y.at(i), expected.at(i), 1e-4);
    inputs[1].rows = 19;
    EXPECT_THROW(bound(run), InvalidArgument);
  }
}

double largest_error(const HostTensor& y, const HostTensor& expected) {
  double largest = 0;
  for (int64_t i = 0; i < y.num_elements(); ++i) largest = std::max(largest, std::abs(y.at(i) - expected.at(i)));
  return largest;
}

// Of bf16 numbers every product is exact in f32, so the sums are as near as those of f32.
TEST(matmul, widens_bf16) {
  const int64_t sizes[][3] = {{32, 16, 64}, {64, 10, 256}, {100, 300, 70}, {129, 257, 65}, {300, 70, 1}};
  for (const auto& [m, k, n] : sizes)
    for (MatmulAttrs attrs : {MatmulAttrs{}, kTN, kNT, kTT}) {
      attrs.widen = true;
      const HostTensor a = randn(attrs.transpose_a ? Shape(k, m) : Shape(m, k), 3).cast(bf16);
      const HostTensor b = randn(attrs.transpose_b ? Shape(n, k) : Shape(k, n), 4).cast(bf16);
      const HostTensor y = run_kernel(op_matmul, {a, b}, Attrs(attrs), {.threads = 2})[0];
      EXPECT_EQ(y.dtype(), f32);
      EXPECT_LT(largest_error(y, naive_matmul(a, b, attrs)), 4e-4 * std::sqrt(static_cast<double>(k)));
      EXPECT_TRUE(y.same_bits(run_kernel(op_matmul, {a, b}, Attrs(attrs), {.threads = 2})[0]));
    }
}

TEST(matmul, widens_batches_of_bf16_and_keeps_nan) {
  for (int64_t size : {8, 90}) {
    HostTensor a = randn({3, size, size}, 5).cast(bf16), b = randn({size, size}, 6).cast(bf16);
    const Attrs attrs(MatmulAttrs{.widen = true});
    EXPECT_LT(largest_error(run_kernel(op_matmul, {a, b}, attrs)[0], naive_matmul(a, b, {})), 1e-3);
    a.set(size, NAN);
    const HostTensor y = run_kernel(op_matmul, {a, b}, attrs)[0];
    EXPECT_TRUE(std::isnan(y.at(size)));
    EXPECT_FALSE(std::isnan(y.at(0)));
  }
}

// A small product of bf16 runs in the loops of f32.
TEST(matmul, small_products_of_bf16_have_the_bits_of_f32) {
  const HostTensor a = randn({13, 37}, 3).cast(bf16), b = randn({37, 67}, 4).cast(bf16);
  const HostTensor y = run_kernel(op_matmul, {a, b}, Attrs(MatmulAttrs{.widen = true}))[0];
  EXPECT_TRUE(y.same_bits(run_kernel(op_matmul, {a.cast(f32), b.cast(f32)}, Attrs(MatmulAttrs{}))[0]));
}

// max(0, a b), every element one chain of fused multiply-adds.
template <class T>
HostTensor chains(const HostTensor& a, const HostTensor& b) {
  const int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  HostTensor y({m, n}, dtype_of<T>);
  for (int64_t i = 0; i < m * n; ++i) {
    T sum = 0;
    for (int64_t p = 0; p < k; ++p) sum = std::fma(a.data<T>()[i / n * k + p], b.data<T>()[p * n + i % n], sum);
    y.mutable_data<T>()[i] = std::max(sum, T{0});
  }
  return y;
}

// With every height of a tile, whole vectors and parts of one.
template <class T>
void expect_chains(const cpu::GemmLoops<T>* const (&levels)[3]) {
  for (int64_t n : {3, 16, 29, 32, 48, 77})
    for (int64_t m = 1; m < 26; ++m) {
      const int64_t k = m == 5 ? 1100 : 150;  // the longest that is one block, and more
      const HostTensor a = randn({m, k}, 1).cast(dtype_of<T>), b = randn({k, n}, 2).cast(dtype_of<T>);
      const HostTensor expected = chains<T>(a, b);
      for (int level = 0; level <= static_cast<int>(cpu::host_isa()); ++level) {
        HostTensor y({m, n}, dtype_of<T>);
        levels[level]->rows({.a = a.data<T>().data(),
                             .a_row = k,
                             .a_column = 1,
                             .b = b.data<T>().data(),
                             .b_row = n,
                             .is_packed = false,
                             .y = y.mutable_data<T>().data(),
                             .y_row = n,
                             .bias = nullptr,
                             .relu = true,
                             .k = k,
                             .first_row = 0,
                             .last_row = m,
                             .first_column = 0,
                             .last_column = n});
        EXPECT_TRUE(y.same_bits(expected)) << m << " rows, " << n << " columns, level " << level;
      }
    }
}
TEST(matmul, own_loops_have_the_same_bits_at_every_level) {
  expect_chains<float>({&cpu::v2::gemm_loops_f32, &cpu::v3::gemm_loops_f32, &cpu::v4::gemm_loops_f32});
  expect_chains<double>({&cpu::v2::gemm_loops_f64, &cpu::v3::gemm_loops_f64, &cpu::v4::gemm_loops_f64});
}

Tensor x(Shape shape, DType dtype = f32) { return placeholder(std::move(shape), dtype, "x"); }

OP_REFUSES(matmul, inner_sizes_that_differ,
           [] {
             matmul(x({2, 3}), x({4, 5}));
           },
           {"3 columns", "4 rows", "[2, 3]", "[4, 5]"})
OP_REFUSES(matmul, inner_sizes_that_differ_transposed,
           [] {
             matmul(x({3, 2}), x({4, 5}), kTT);
           },
           {"3 columns", "5 rows", "[3, 2] transposed"})
OP_REFUSES(matmul, vectors, [] { matmul(x({3}), x({3, 5})); }, {"rank 2", "[3]", "expand_dims"})
OP_REFUSES(matmul, batches_that_do_not_broadcast,
           [] {
             matmul(x({2, 3, 4}), x({3, 4, 5}));
           },
           {"broadcast", "[2, 3, 4]"})
OP_REFUSES(matmul, bf16_unless_asked_to_widen, [] { matmul(x({2, 3}, bf16), x({3, 4}, bf16)); }, {"bf16[2, 3]", "cast"})
OP_REFUSES(matmul, to_widen_f32, [] { matmul(x({2, 3}), x({3, 4}), {.widen = true}); }, {"bf16", "f32"})
OP_REFUSES(matmul, to_widen_two_dtypes,
           [] {
             matmul(x({2, 3}, bf16), x({3, 4}), {.widen = true});
           },
           {"bf16[2, 3]", "f32[3, 4]", "cast"})
OP_REFUSES(matmul, dtypes_that_differ, [] { matmul(x({2, 3}), x({3, 4}, f64)); }, {"f32[2, 3]", "f64[3, 4]", "cast"})
OP_REFUSES(matmul, half_precision,
           [] {
             matmul(x({2, 3}, bf16), x({3, 4}, bf16));
           },
           {"bf16", "f32, f64, i32, i64", "cast"})
OP_REFUSES(matmul, an_output_that_does_not_fit,
           [] {
             matmul(x({int64_t{1} << 40, 2}), x({2, int64_t{1} << 40}));
           },
           {"does not fit"})

testing::OpCase dot(std::string label, Shape a, Shape b, TensordotAttrs attrs, testing::Reference reference) {
  return {.label = std::move(label),
          .inputs = {randn(a, 1), randn(b, 2)},
          .build = [=](TensorList t) { return TensorList{tensordot(t[0], t[1], attrs)}; },
          .reference = std::move(reference),
          .unknown_shapes = false,
          .tolerance = 1e-4};
}

// y[i, l] = sum over j, k of a[i, j, k] b[k, l, j]
HostTensors naive_two_axes(const HostTensors& in) {
  HostTensor y({2, 5}, f64);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t l = 0; l < 5; ++l) {
      double sum = 0;
      for (int64_t j = 0; j < 3; ++j)
        for (int64_t k = 0; k < 4; ++k) sum += in[0].at((i * 3 + j) * 4 + k) * in[1].at((k * 5 + l) * 3 + j);
      y.set(i * 5 + l, sum);
    }
  return {y};
}

TEST(tensordot, sums_over_any_axes) {
  testing::run_op_case("tensordot", dot("two axes", {2, 3, 4}, {4, 5, 3}, {{1, 2}, {2, 0}}, naive_two_axes));
  testing::run_op_case("tensordot", dot("negative axes", {2, 3, 4}, {4, 5, 3}, {{-2, -1}, {-1, 0}}, naive_two_axes));
  testing::run_op_case("tensordot", dot("no axis", {2}, {3}, {}, [](const HostTensors& in) {
                         HostTensor y({2, 3}, f64);
                         for (int64_t i = 0; i < 6; ++i) y.set(i, in[0].at(i / 3) * in[1].at(i % 3));
                         return HostTensors{y};
                       }));
}
OP_REFUSES(tensordot, sizes_that_differ, [] { tensordot(x({2, 3}), x({4, 5}), 1); }, {"axis 1 of a [2, 3]", "3 and 4"})
OP_REFUSES(tensordot, an_axis_twice, [] { tensordot(x({2, 2}), x({2, 2}), {{0, 0}, {0, 1}}); }, {"axis 0", "twice"})
OP_REFUSES(tensordot, too_many_axes, [] { tensordot(x({2}), x({2, 2}), 2); }, {"2 axes", "rank 1 and 2"})

}  // namespace
}  // namespace martello
