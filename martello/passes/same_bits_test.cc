#include <martello/passes/internal/pass_test.h>
#include <martello/passes/internal/run_plan.h>

#include <martello/graph/scopes.h>
#include <martello/kernel/cpu/isa.h>
#include <martello/ops/activation.h>
#include <martello/ops/add_n.h>
#include <martello/ops/binary.h>
#include <martello/ops/cast.h>
#include <martello/ops/compare.h>
#include <martello/ops/cumsum.h>
#include <martello/ops/fused.h>
#include <martello/ops/identity.h>
#include <martello/ops/like.h>
#include <martello/ops/linear.h>
#include <martello/ops/matmul.h>
#include <martello/ops/reduce.h>
#include <martello/ops/reshape.h>
#include <martello/ops/shape.h>
#include <martello/ops/transpose.h>
#include <martello/ops/unary.h>
#include <martello/ops/where.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

namespace martello {
namespace {

using namespace testing;

// Grows a graph at random: values of a few shapes, ops that passes look for.
class RandomGraph {
 public:
  RandomGraph(unsigned seed, DType dtype) : random_(seed), dtype_(dtype) {
    for (const Shape& shape : {Shape(6, 4), Shape(6, 4), Shape(4), Shape(6, 1), Shape()}) feed(shape);
    for (int i = 0; i < 60; ++i) values_.push_back(grow());
    for (int i = 0; i < 6; ++i) fetches_.push_back(pick());
    fetches_.push_back(values_.back());
    for (const auto& node : scope_.graph().impl().nodes) {
      node->recompute_scope = static_cast<int64_t>(below(3));
      node->is_backward = below(3) == 0;
    }
  }

  PlanGraph plan() const {
    std::vector<Shape> shapes;
    for (const Tensor& t : placeholders_) shapes.push_back(t.shape());
    return extract(scope_.graph(), fetches_, {}, placeholders_, shapes);
  }
  const std::map<std::string, HostTensor>& feeds() const { return feeds_; }

 private:
  size_t below(size_t n) { return random_() % n; }
  // Late values more often, so that chains grow.
  Tensor pick() { return values_[values_.size() - 1 - std::min(below(values_.size()), below(values_.size()))]; }

  void feed(const Shape& shape) {
    const Tensor t = placeholder(shape, dtype_, "x");
    HostTensor value(shape, dtype_);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < value.num_elements(); ++i) value.set(i, below(16) == 0 ? -0.0 : normal(random_));
    feeds_.emplace(t.name(), value);
    placeholders_.push_back(t);
    values_.push_back(t);
  }

  Tensor grow() {
    const Tensor x = pick(), y = matching(x);
    switch (below(24)) {
      case 0: return x + y;
      case 1: return x - y;
      case 2: return x * y;
      case 3: return maximum(x, y);
      case 4: return tanh(x);
      case 5: return relu(x);
      case 6: return negative(x);
      case 7: return square(x);
      case 8: return abs(x);
      case 9: return exp(minimum(x, 2));
      case 10: return where(x > y, x, y);
      case 11: return x * 1;
      case 12: return x - 0;
      case 13: return identity(x);
      case 14: return x.rank() == 2 ? transpose(transpose(x)) : x * 0.5;
      case 15: return reduced(x);
      case 16: return sum_to_like(x + y, below(2) == 0 ? x : y);
      case 17: return broadcast_like(x, x + y) * y;
      case 18: return x.rank() == 2 ? reshape(flatten(expand_dims(x, 0)), shape(x)) : x / 3;
      case 19: return x.rank() == 2 && x.dim(1) == 4 ? product(x) : sigmoid(x);
      case 20: return x.rank() > 0 ? cumsum(x) : x + 1;
      case 21: return add_n({x, x, tanh(x)});
      case 22: return cast(cast(x > 0, dtype_), dtype_) * x;
      default: return pow(abs(x), 1.0) + zeros_like(x);
    }
  }
  // One that broadcasts with x.
  Tensor matching(Tensor x) {
    for (int i = 0; i < 20; ++i) {
      const Tensor y = pick();
      if (y.shape() == x.shape() || y.rank() == 0 || (x.rank() == 2 && x.dim(0) == 6 && x.dim(1) == 4)) return y;
    }
    return x;
  }
  Tensor reduced(Tensor x) {
    if (x.rank() != 2) return reduce_mean(square(x));
    const ReduceAttrs attrs{.axes = Axes(static_cast<int>(below(2))), .keep_dims = below(2) == 0};
    const Tensor y = below(2) == 0 ? reduce_sum(tanh(x) * x, attrs) : reduce_max(x - 1, attrs);
    return x + (attrs.keep_dims ? y : expand_dims(y, attrs.axes.values()[0]));
  }
  // A dense layer over itself.
  Tensor product(Tensor x) {
    const Tensor w = matmul(transpose(x), x), y = matmul(x, w) * 0.1;
    return relu(matmul(x, w * 0.01) + reduce_mean(y, {.axes = 0}));
  }

  std::mt19937 random_;
  DType dtype_;
  GraphScope scope_;
  std::vector<Tensor> values_, fetches_, placeholders_;
  std::map<std::string, HostTensor> feeds_;
};

class SameBits : public ::testing::TestWithParam<const char*> {};

TEST_P(SameBits, before_and_after) {
  const std::string name = GetParam();
  int changed = 0, fused = 0, linear = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const RandomGraph graph(seed, seed % 3 == 0 ? f64 : f32);
    const HostTensors expected = run_plan(graph.plan(), graph.feeds());
    PlanGraph plan = graph.plan();
    for (const GraphPass& pass : all_passes())
      if (name == pass.name || name == "all") changed += pass.run(plan);
    verify(plan.graph);
    for (const auto& node : plan.impl().nodes) {
      fused += node->attrs.is<FusedAttrs>();
      linear += node->def == &op_linear;
    }
    const HostTensors actual = run_plan(plan, graph.feeds());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(actual[i].same_bits(expected[i]))
          << "seed " << seed << ", fetch " << i << ": " << expected[i].str() << " became " << actual[i].str() << "\n"
          << plan_text(plan);
  }
  std::printf("%s: %d changes, %d fused and %d linear nodes\n", name.c_str(), changed, fused, linear);
  EXPECT_GT(changed, 0);
}

INSTANTIATE_TEST_SUITE_P(passes, SameBits,
                         ::testing::Values("fold_constants", "simplify", "cse", "recompute", "fuse", "all"),
                         [](const auto& row) { return std::string(row.param); });

// Plans of one fetch with and without a pass, on the same feeds.
void expect_same_bits(bool (*pass)(PlanGraph&), const std::string& text,
                      const std::map<std::string, HostTensor>& feeds) {
  PlanGraph plan = parse_plan(text, {"y"});
  const HostTensors expected = run_plan(plan, feeds);
  EXPECT_TRUE(pass(plan)) << text;
  EXPECT_TRUE(run_plan(plan, feeds)[0].same_bits(expected[0])) << text;
}

HostTensor random_tensor(Shape shape, unsigned seed) {
  HostTensor t(std::move(shape), f32);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (float& v : t.mutable_data<float>()) v = normal(random);
  return t;
}

TEST(same_bits, of_products_that_the_library_computes) {
  for (const auto& [m, k, n] : {std::array{65, 129, 257}, std::array{256, 784, 128}, std::array{96, 1000, 10}}) {
    const std::map<std::string, HostTensor> feeds = {
        {"a", random_tensor({k, m}, 1)}, {"b", random_tensor({n, k}, 2)}, {"bias", random_tensor({n}, 3)}};
    const std::string in = str("%a = placeholder() {shape=[", k, ", ", m, "]}\n%b = placeholder() {shape=[", n, ", ", k,
                               "]}\n%bias = placeholder() {shape=[", n, "]}\n");
    // Without AVX-512 the library has other loops for transposed factors.
    if (cpu::host_isa() == cpu::Isa::v4) {
      expect_same_bits(simplify, in + "%t = transpose(%a)  %y = matmul(%t, %b) {transpose_b=true}", feeds);
      expect_same_bits(simplify, in + "%t = transpose(%b)  %y = matmul(%a, %t) {transpose_a=true}", feeds);
    }
    expect_same_bits(fuse, in + "%p = matmul(%a, %b) {transpose_a=true, transpose_b=true}  %y = add(%p, %bias)", feeds);
    expect_same_bits(
        fuse, in + "%p = matmul(%a, %b) {transpose_a=true, transpose_b=true}  %s = add(%p, %bias)  %y = relu(%s)",
        feeds);
  }
}

TEST(same_bits, of_convolutions) {
  const std::map<std::string, HostTensor> feeds = {{"x", random_tensor({1, 14, 14, 32}, 1)},
                                                   {"w", random_tensor({3, 3, 32, 48}, 2)},
                                                   {"dy", random_tensor({1, 14, 14, 48}, 3)},
                                                   {"b", random_tensor({48}, 4)}};
  const std::string in = R"(
    %x = placeholder() {shape=[1, 14, 14, 32]}
    %w = placeholder() {shape=[3, 3, 32, 48]}
    %dy = placeholder() {shape=[1, 14, 14, 48]}
    %b = placeholder() {shape=[48]}
  )";
  expect_same_bits(fuse, in + "%p = conv2d(%x, %w)  %s = add(%p, %b)  %y = relu(%s)", feeds);
  expect_same_bits(assign_layout, in + "%y = conv2d(%x, %w, %b)", feeds);
  expect_same_bits(assign_layout, in + "%y = conv2d_grad_input(%dy, %w) {shape=[1, 14, 14, 32]}", feeds);
  expect_same_bits(assign_layout, in + "%y = conv2d_grad_kernel(%x, %dy) {shape=[3, 3, 32, 48]}", feeds);
}

// A convolution that our loops pool: windows that touch, overlap in a row, hang over edges and leave gaps.
TEST(same_bits, of_pooled_convolutions) {
  const std::map<std::string, HostTensor> feeds = {
      {"x", random_tensor({3, 29, 30, 3}, 1)}, {"w", random_tensor({3, 3, 3, 32}, 2)}, {"b", random_tensor({32}, 4)}};
  const std::string in = R"(
    %x = placeholder() {shape=[3, 29, 30, 3]}
    %w = placeholder() {shape=[3, 3, 3, 32]}
    %b = placeholder() {shape=[32]}
  )";
  for (const char* pool :
       {"", "{size_h=3, size_w=3, stride_h=3, stride_w=2, padding=same}", "{stride_h=3, stride_w=4}",
        "{size_h=5, size_w=1, stride_h=5, stride_w=1, pad_top=4, pad_bottom=3}", "{size_h=15, size_w=15}"})
    for (const char* conv : {"%r = conv2d(%x, %w)", "%p = conv2d(%x, %w)  %s = add(%p, %b)  %r = relu(%s)",
                             "%p = conv2d(%x, %w) {stride_h=2}  %r = add(%p, %b)"}) {
      const std::string text = str(in, conv, "  %y = max_pool(%r) ", pool);
      PlanGraph plan = parse_plan(text, {"y"});
      fuse(plan);
      EXPECT_NE(plan_text(plan).find("conv2d_max_pool"), std::string::npos) << text;
      expect_same_bits(fuse, text, feeds);
    }
}

// The same of Winograd's tiles, with NaN and infinities among the pixels.
TEST(same_bits, of_pooled_tiles) {
  if (cpu::host_isa() == cpu::Isa::v2) GTEST_SKIP() << "the library convolves at this level";
  HostTensor x = random_tensor({3, 29, 30, 17}, 1);
  x.set(1000, std::numeric_limits<double>::quiet_NaN());
  x.set(20000, std::numeric_limits<double>::infinity());
  const std::map<std::string, HostTensor> feeds = {
      {"x", x}, {"w", random_tensor({3, 3, 17, 35}, 2)}, {"b", random_tensor({35}, 4)}};
  const std::string in = R"(
    %x = placeholder() {shape=[3, 29, 30, 17]}
    %w = placeholder() {shape=[3, 3, 17, 35]}
    %b = placeholder() {shape=[35]}
  )";
  for (const char* conv : {"%r = conv2d(%x, %w)", "%p = conv2d(%x, %w)  %s = add(%p, %b)  %r = relu(%s)",
                           "%p = conv2d(%x, %w) {padding=valid}  %r = add(%p, %b)"}) {
    const std::string text = str(in, conv, "  %y = max_pool(%r)");
    PlanGraph plan = parse_plan(text, {"y"});
    fuse(plan);
    EXPECT_NE(plan_text(plan).find("conv2d_max_pool"), std::string::npos) << text;
    expect_same_bits(fuse, text, feeds);
  }
}

// Bit patterns of every kind: denormal, infinite, -0. A NaN stays one.
TEST(same_bits, of_numbers_that_are_neutral) {
  constexpr int64_t kCount = 1 << 20;
  HostTensor x(Shape(kCount), f32);
  uint32_t bits = 0;
  for (float& v : x.mutable_data<float>()) {
    std::memcpy(&v, &bits, sizeof v);
    if (std::isnan(v)) v = 0;
    bits += 4097;  // comes by all exponents and both signs
  }
  const std::string in = str("%x = placeholder() {shape=[", kCount, "]}\n");
  const std::string one = "%c = constant() {value=f32[](1)}  ", zero = "%c = constant() {value=f32[](0)}  ";
  for (const std::string& nodes :
       {one + "%y = multiply(%x, %c)", one + "%y = divide(%x, %c)", one + "%y = pow(%x, %c)",
        zero + "%y = subtract(%x, %c)", std::string("%c = constant() {value=f32[](-0)}  %y = add(%x, %c)"),
        std::string("%a = negative(%x)  %y = negative(%a)"), std::string("%a = cast(%x) {dtype=f64}  %y = cast(%a)")})
    expect_same_bits(simplify, in + nodes, {{"x", x}});
}

}  // namespace
}  // namespace martello
