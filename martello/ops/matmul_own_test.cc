#include <gtest/gtest.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/large_gemm.h>
#include <martello/ops/internal/short_gemm.h>
#include <martello/ops/internal/split_gemm.h>
#include <martello/ops/matmul.h>
#include <martello/tensor/buffer.h>
#include <martello/testing/op_test.h>
#include <martello/testing/run_kernel.h>

#include <array>
#include <cmath>

namespace martello::internal {
namespace {

using testing::randn;

struct Product {
  int64_t m, n, k;
  MatmulFlags flags;
  HostTensor a, b, bias;

  Product(int64_t rows, int64_t columns, int64_t depth, MatmulFlags asked)
      : m(rows),
        n(columns),
        k(depth),
        flags(asked),
        a(randn(flags.transpose_a ? Shape(k, m) : Shape(m, k), 1).cast(f32)),
        b(randn(flags.transpose_b ? Shape(n, k) : Shape(k, n), 2).cast(f32)),
        bias(randn({n}, 3).cast(f32)) {}

  // Every element one chain of fused multiply-adds along k, which begins at its middle where a column says so.
  HostTensor chains(int64_t from_middle = 0) const {
    HostTensor y({m, n}, f32);
    const float *x = a.data<float>().data(), *w = b.data<float>().data();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t step = 0; step < k; ++step) {
          const int64_t p = (step + (j < from_middle ? (k + 1) / 2 : 0)) % k;
          sum =
              std::fma(x[flags.transpose_a ? p * m + i : i * k + p], w[flags.transpose_b ? j * k + p : p * n + j], sum);
        }
        if (flags.has_bias) sum += bias.data<float>()[static_cast<size_t>(j)];
        y.mutable_data<float>()[static_cast<size_t>(i * n + j)] = flags.relu ? std::max(sum, 0.0F) : sum;
      }
    return y;
  }

  MatmulSizes sizes() const {
    const TensorSpec in[] = {{a.shape(), f32}, {b.shape(), f32}, {bias.shape(), f32}}, out[] = {{Shape(m, n), f32}};
    return MatmulSizes({{"test", "matmul"}, in, out, nullptr, 1}, flags);
  }

  // As planned for `threads`, run with `given` of them.
  HostTensor panels(int threads, int given) const { return run(LargeGemm(sizes(), flags, threads), given); }

  template <class Gemm>
  HostTensor run(const Gemm& gemm, int given) const {
    HostTensor y = HostTensor::full({m, n}, f32, NAN);
    RunTensor inputs[3], outputs[] = {{y.mutable_raw(), m * n, m}};
    const HostTensor* const tensors[] = {&a, &b, &bias};
    for (size_t i = 0; i < 3; ++i)
      inputs[i] = {const_cast<std::byte*>(tensors[i]->raw()), tensors[i]->num_elements(), tensors[i]->shape()[0]};
    Buffer scratch(gemm.scratch_bytes());
    RunParams params;
    gemm.run({inputs, outputs, scratch.data(), &params, given});
    return y;
  }
};

constexpr MatmulFlags kForms[] = {{},
                                  {.transpose_a = true},
                                  {.transpose_b = true},
                                  {.transpose_a = true, .transpose_b = true},
                                  {.has_bias = true, .relu = true},
                                  {.transpose_b = true, .has_bias = true, .relu = true}};

}  // namespace

// Parts of a piece, whole pieces and panels; shares that end within a panel; sums longer than a panel.
TEST(matmul_large, is_a_chain_per_element_whatever_the_shares) {
  const int64_t sizes[][3] = {{1, 1, 1},     {7, 5, 30},    {40, 16, 9},    {13, 77, 150},  {3, 200, 40},
                              {61, 130, 21}, {9, 70, 1600}, {150, 200, 30}, {100, 66, 2100}};
  for (const auto& [m, n, k] : sizes)
    for (const MatmulFlags& flags : kForms) {
      const Product product(m, n, k, flags);
      const HostTensor expected = product.chains();
      for (int threads : {1, 2, 3, 8})
        EXPECT_TRUE(product.panels(threads, threads).same_bits(expected))
            << m << "x" << n << "x" << k << " " << flags.transpose_a << flags.transpose_b << " " << threads
            << " threads";
    }
}
TEST(matmul_large, takes_fewer_threads_than_planned) {
  const Product product(30, 100, 50, {});
  EXPECT_TRUE(product.panels(4, 2).same_bits(product.chains()));
}

// Machines on which rows are copied, and on which they are read as they lie, from memory or from a cache.
constexpr cpu::Caches kCaches[] = {{true, 1}, {false, 1}, {false, 1 << 30}};

// Shares that end within a half, threads without one, halves of different widths.
TEST(matmul_split, sums_of_the_left_half_begin_in_the_middle) {
  const int64_t sizes[][3] = {{1, 1, 1},     {1, 200, 70},   {5, 16, 2},     {7, 33, 31},
                              {40, 300, 77}, {64, 256, 100}, {3, 130, 2100}, {20, 700, 40}};
  for (const auto& [m, n, k] : sizes)
    for (const MatmulFlags& flags : {MatmulFlags{}, MatmulFlags{.has_bias = true, .relu = true}}) {
      const Product product(m, n, k, flags);
      const HostTensor expected = product.chains((n + 31) / 32 * 16);
      for (int threads : {1, 2, 3, 4, 16})
        for (const cpu::Caches& caches : kCaches)
          EXPECT_TRUE(product.run(SplitGemm(product.sizes(), flags, threads, caches), threads).same_bits(expected))
              << m << "x" << n << "x" << k << " " << flags.has_bias << " " << threads << " threads";
    }
}
TEST(matmul_short, is_a_chain_per_element_whatever_the_shares) {
  constexpr MatmulFlags kFlags{.transpose_a = true};
  const int64_t sizes[][3] = {{1, 1, 1},     {130, 40, 1},   {7, 5, 30},     {150, 200, 30},
                              {61, 130, 64}, {150, 70, 100}, {1024, 66, 70}, {49, 66, 1100}};
  for (const auto& [m, n, k] : sizes) {
    const Product product(m, n, k, kFlags);
    for (int threads : {1, 2, 3, 16})
      for (const cpu::Caches& caches : kCaches)
        EXPECT_TRUE(product.run(ShortGemm(product.sizes(), threads, caches), threads).same_bits(product.chains()))
            << m << "x" << n << "x" << k << " " << threads << " threads";
  }
}

// At the level that has been measured, they are what a layer for a small batch uses, and give the same bits with any
// number of threads.
TEST(matmul_split, layers_of_small_batches_keep_their_bits) {
  if (cpu::host_isa() != cpu::Isa::v4) GTEST_SKIP() << "level v4 only: elsewhere the library makes these products";
  for (int64_t batch : {1, 3, 32}) {
    const HostTensor x = randn({batch, 500}, 1).cast(f32), w = randn({500, 300}, 2).cast(f32),
                     dy = randn({batch, 300}, 3).cast(f32);
    const auto with_threads = [&](int threads) {
      const auto product = [&](const HostTensor& a, const HostTensor& b, MatmulAttrs attrs) {
        return testing::run_kernel(op_matmul, {a, b}, Attrs(attrs), {.threads = threads})[0];
      };
      return std::array{product(x, w, {}), product(x, dy, {.transpose_a = true}),
                        product(dy, w, {.transpose_b = true})};
    };
    const auto one = with_threads(1), two = with_threads(2), four = with_threads(4);
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(two[i].same_bits(one[i]) && four[i].same_bits(one[i])) << i << " of " << batch << " rows";
  }
}

}  // namespace martello::internal
