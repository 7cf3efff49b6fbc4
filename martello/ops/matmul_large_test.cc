#include <gtest/gtest.h>
#include <martello/ops/internal/large_gemm.h>
#include <martello/tensor/buffer.h>
#include <martello/testing/op_test.h>

#include <cmath>

namespace martello::internal {
namespace {

using testing::randn;

struct Product {
  int64_t m, n, k;
  MatmulFlags flags;
  HostTensor a, b, bias;

  Product(int64_t m_, int64_t n_, int64_t k_, MatmulFlags flags_)
      : m(m_),
        n(n_),
        k(k_),
        flags(flags_),
        a(randn(flags.transpose_a ? Shape(k, m) : Shape(m, k), 1).cast(f32)),
        b(randn(flags.transpose_b ? Shape(n, k) : Shape(k, n), 2).cast(f32)),
        bias(randn({n}, 3).cast(f32)) {}

  // Every element one chain of fused multiply-adds along k.
  HostTensor chains() const {
    HostTensor y({m, n}, f32);
    const float *x = a.data<float>().data(), *w = b.data<float>().data();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum =
              std::fma(x[flags.transpose_a ? p * m + i : i * k + p], w[flags.transpose_b ? j * k + p : p * n + j], sum);
        if (flags.has_bias) sum += bias.data<float>()[static_cast<size_t>(j)];
        y.mutable_data<float>()[static_cast<size_t>(i * n + j)] = flags.relu ? std::max(sum, 0.0F) : sum;
      }
    return y;
  }

  // As planned for `threads`, run with `given` of them.
  HostTensor panels(int threads, int given) const {
    const TensorSpec in[] = {{a.shape(), f32}, {b.shape(), f32}, {bias.shape(), f32}}, out[] = {{Shape(m, n), f32}};
    const KernelPlan plan{{"test", "matmul"}, in, out, nullptr, threads};
    const LargeGemm gemm(MatmulSizes(plan, flags), flags, threads);
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

}  // namespace martello::internal
