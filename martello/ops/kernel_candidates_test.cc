// Whoever chooses among the ways to run a product or a convolution, by timing or from a record, may choose any of them.
#include <martello/base/error.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/onednn.h>
#include <martello/ops/internal/takes_number.h>
#include <martello/ops/internal/test_conv.h>
#include <martello/ops/matmul.h>

#include <random>
#include <set>

namespace martello {
namespace {

using internal::ConvDirection;
using testing::ConvCase;
using testing::ConvNode;
using testing::expect_near;
using testing::randn;
using testing::run_kernel;
using testing::TakesNumber;

// All ways to run this against the definition; their names are added to `seen`.
void check_all(const OpDef& op, const HostTensors& in, const Attrs& attrs, const HostTensor& expected,
               const std::string& label, std::set<std::string>& seen) {
  for (int threads : {1, 2}) {
    size_t count = 1;
    for (size_t i = 0; i < count; ++i) {
      TakesNumber chooser(i);
      const KernelChooserScope scope(&chooser);
      const HostTensor y = run_kernel(op, in, attrs, {.threads = threads})[0];
      expect_near(y, expected, str(label, ": ", chooser.name, ", ", threads, " threads"));
      count = chooser.count;
      seen.insert(chooser.name);
    }
  }
}

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int one_of(const std::vector<int>& values) { return values[engine_() % values.size()]; }

 private:
  std::mt19937 engine_;
};

ConvCase random_conv(Dice& dice) {
  const int64_t groups = dice.one_of({1, 1, 1, 2, 3}), in = groups * dice.one_of({1, 3, 8, 17, 32}),
                out = groups * dice.one_of({1, 3, 16, 17, 48});
  const auto size = [&]() -> int64_t { return dice.one_of({1, 2, 5, 7, 8, 13}); };
  const auto window = [&]() -> int64_t { return dice.one_of({1, 1, 2, 3, 3, 5}); };
  const auto pad = [&] { return dice.one_of({0, 1, 2}); };
  Conv2DAttrs conv{.stride = {dice.one_of({1, 1, 2, 3}), dice.one_of({1, 1, 2})},
                   .dilation = {dice.one_of({1, 1, 2}), 1},
                   .groups = groups};
  const Padding paddings[] = {Pad::same, Pad::valid, {pad(), pad(), pad(), pad()}};
  conv.padding = paddings[dice.one_of({0, 1, 2})];
  conv.data_format = dice.one_of({0, 0, 0, 1}) ? DataFormat::nchw : DataFormat::nhwc;
  const int64_t batch = dice.one_of({1, 2, 5}), height = size(), width = size();
  const Shape x =
      conv.data_format == DataFormat::nhwc ? Shape(batch, height, width, in) : Shape(batch, in, height, width);
  return {x, {window(), window(), in / groups, out}, conv};
}

bool fits(const ConvCase& c) try { return !problem_of(c).has_no_elements(); } catch (const Error&) {
  return false;
}

// The names of the ways that were seen.
std::set<std::string> check_convolutions(DType dtype, int count, uint32_t seed) {
  Dice dice(seed);
  std::set<std::string> seen;
  int checked = 0;
  while (checked < count) {
    const ConvCase c = random_conv(dice);
    if (!fits(c)) continue;
    ++checked;
    for (auto direction : {ConvDirection::forward, ConvDirection::grad_input, ConvDirection::grad_kernel}) {
      const ConvNode node(c, direction, dtype);
      std::string label = str("case ", checked, ", ", node.op->name, " ", c.x, c.kernel);
      for (const auto& a : problem_of(c).axes)
        label += str(" s", a.stride, " d", a.dilation, " p", a.before, ",", a.after);
      check_all(*node.op, node.in, Attrs(node.attrs), node.definition(), label, seen);
    }
  }
  return seen;
}

TEST(kernel_candidates, every_way_to_convolve_equals_the_definition) {
  const auto seen = check_convolutions(f32, 60, 7);
  for (const char* name : {"product", "oneDNN"}) EXPECT_TRUE(seen.count(name)) << name;
}

TEST(kernel_candidates, every_way_to_convolve_bf16_equals_the_definition) {
  const auto seen = check_convolutions(bf16, 60, 9);
  EXPECT_EQ(seen.count("oneDNN"), onednn::has_bf16() ? 1 : 0);
  EXPECT_TRUE(seen.count("product"));
}

// With each way that takes a bias, the bits of a sum after it.
void check_bias(const ConvCase& c, DType dtype) {
  const ConvNode node(c, ConvDirection::forward, dtype);
  const HostTensor bias = randn(Shape(c.kernel[3]), 4).cast(f32);
  size_t count = 1;
  for (size_t i = 0; i < count; ++i) {
    TakesNumber chooser(i);
    const KernelChooserScope scope(&chooser);
    HostTensor expected = run_kernel(*node.op, node.in, Attrs(node.attrs))[0];
    const HostTensor y = run_kernel(*node.op, {node.in[0], node.in[1], bias}, Attrs(node.attrs))[0];
    for (int64_t e = 0; e < y.num_elements(); ++e)
      expected.set(e, static_cast<float>(expected.at(e)) + static_cast<float>(bias.at(e % c.kernel[3])));
    EXPECT_TRUE(y.same_bits(expected)) << str(dtype, " ", c.x, c.kernel, ", groups ", c.conv.groups, ": ",
                                              chooser.name);
    count = chooser.count;
  }
}

// Fusion changes no bits, whichever way is taken.
TEST(kernel_candidates, every_way_to_convolve_adds_its_bias_last) {
  Dice dice(10);
  for (int checked = 0; checked < 60;) {
    ConvCase c = random_conv(dice);
    if (!fits(c) || c.conv.data_format != DataFormat::nhwc) continue;
    ++checked;
    for (DType dtype : {f32, bf16}) check_bias(c, dtype);
  }
  for (int64_t channels : {16, 17, 32})
    for (DType dtype : {f32, bf16}) check_bias({{2, 9, 9, channels}, {3, 3, 1, channels}, {.groups = channels}}, dtype);
}

// See Note [Narrow strided pixels].
TEST(kernel_candidates, gradients_of_narrow_strided_pixels_stay_in_their_scratch) {
  std::set<std::string> seen;
  for (int64_t channels : {1, 3, 7, 12, 15, 16, 17})
    for (const Conv2DAttrs& conv : {Conv2DAttrs{.stride = {2, 1}}, {.stride = {1, 2}}, {.stride = 3}})
      for (const Shape& image : {Shape(5, 8, 5, channels), Shape(5, 27, 29, channels)}) {
        const ConvCase c{image, {1, 1, channels, 17}, conv};
        for (DType dtype : {f32, bf16}) {
          const ConvNode node(c, ConvDirection::grad_kernel, dtype);
          check_all(*node.op, node.in, Attrs(node.attrs), node.definition(), image.str(), seen);
        }
      }
}

// See Note [Gradients of bf16 kernels]: dilated rows of channels that fill no vector, and images narrower than windows.
TEST(kernel_candidates, gradients_of_bf16_kernels_equal_the_definition) {
  std::set<std::string> seen;
  const std::vector<ConvCase> cases = {
      {{2, 33, 40, 40}, {3, 3, 40, 16}, {.dilation = {2, 1}}},
      {{4, 12, 33, 17}, {1, 3, 17, 40}, {.padding = Pad::valid, .dilation = {3, 2}}},
      {{1, 24, 36, 100}, {3, 1, 100, 128}, {.dilation = 2}},
      {{4, 16, 16, 32}, {3, 3, 32, 32}, {.dilation = 2}},
      {{32, 3, 1, 40}, {2, 3, 40, 128}, {.stride = {1, 2}}},
      {{1, 8, 2, 48}, {3, 3, 48, 48}, {.stride = 3, .padding = {1, 0, 2, 1}}},
  };
  for (const ConvCase& c : cases) {
    const ConvNode node(c, ConvDirection::grad_kernel, bf16);
    check_all(*node.op, node.in, Attrs(node.attrs), node.definition(), str(c.x, c.kernel), seen);
  }
}

TEST(kernel_candidates, every_way_to_multiply_equals_the_definition) {
  Dice dice(8);
  std::set<std::string> seen;
  for (int i = 0; i < 60; ++i) {
    const auto size = [&]() -> int64_t { return dice.one_of({1, 2, 17, 48, 96, 130, 300, 520}); };
    const int64_t m = size(), n = size(), k = size();
    const MatmulAttrs attrs{.transpose_a = dice.one_of({0, 1}) == 1, .transpose_b = dice.one_of({0, 1}) == 1};
    const HostTensor a = randn(attrs.transpose_a ? Shape(k, m) : Shape(m, k), 1).cast(f32),
                     b = randn(attrs.transpose_b ? Shape(n, k) : Shape(k, n), 2).cast(f32);
    const HostTensor expected = run_kernel(op_matmul, {a.cast(f64), b.cast(f64)}, Attrs(attrs))[0];
    check_all(op_matmul, {a, b}, Attrs(attrs), expected, str("case ", i, ", matmul ", a.shape(), b.shape()), seen);
  }
  EXPECT_GE(seen.size(), cpu::host_isa() == cpu::Isa::v4 ? 4u : 3u);
}

}  // namespace
}  // namespace martello
