#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/kernel/cpu/onednn_conv.h>

#include <vector>

namespace martello::onednn {
namespace {

using testing::error_of;

const OpInfo kOp{"fc", "matmul"};

TEST(onednn, says_its_version) { EXPECT_TRUE(version().starts_with("oneDNN ")); }

TEST(onednn, names_its_instructions) {
  const std::string name = instruction_set();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find("cpu_isa"), std::string::npos) << name;
  EXPECT_EQ(bf16_support() == Bf16::tiles, name.find("amx") != std::string::npos && has_bf16()) << name;
}

TEST(onednn, layouts_have_sizes_and_strides) {
  EXPECT_EQ(Layout({2, 3}, f32).bytes(), 24);
  EXPECT_EQ(Layout({2, 3}, {1, 2}, f32).bytes(), 24);
  EXPECT_TRUE(Layout({2, 3}, f32) == Layout({2, 3}, {3, 1}, f32));
  EXPECT_FALSE(Layout({2, 3}, f32) == Layout({2, 3}, {1, 2}, f32));
  EXPECT_TRUE(Layout() == Layout());
  EXPECT_FALSE(Layout() == Layout({2, 3}, f32));
}

TEST(onednn, kernels_run_on_addresses_that_change) {
  const Primitive p =
      make_matmul(kOp, {.a = Layout({2, 3}, f32), .b = Layout({3, 2}, f32), .y = Layout({2, 2}, f32)}, 1);
  const Kernel kernel =
      make_kernel(p, {{Role::src, Side::input, 0}, {Role::weights, Side::input, 1}, {Role::dst, Side::output, 0}});
  EXPECT_TRUE(kernel.implementation().starts_with("oneDNN "));
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1}, y(4), a2{0, 0, 1, 0, 1, 0}, y2(4);
  std::vector<std::byte> scratch(static_cast<size_t>(kernel.scratch_bytes()) + 64);
  RunTensor in[] = {{a.data(), 6, 2}, {b.data(), 6, 3}}, out[] = {{y.data(), 4, 2}};
  const KernelRun run{in, out, scratch.data(), nullptr, 1};
  const BoundKernel bound = kernel.bind(run), copy = bound;
  bound(run);
  EXPECT_EQ(y, (std::vector<float>{4, 5, 10, 11}));
  in[0].data = a2.data();
  out[0].data = y2.data();
  copy(run);
  EXPECT_EQ(y2, (std::vector<float>{1, 1, 0, 1}));
  in[0].data = a.data();
  bound(run);
  EXPECT_EQ(y2, (std::vector<float>{4, 5, 10, 11}));
}

TEST(onednn, multiplies_bf16_into_f32) {
  if (!has_bf16()) GTEST_SKIP() << "needs AVX-512";
  const Primitive p =
      make_matmul(kOp, {.a = Layout({2, 3}, bf16), .b = Layout({3, 2}, bf16), .y = Layout({2, 2}, f32)}, 1);
  Call call(p, {Role::src, Role::weights, Role::dst});
  const std::vector<BFloat16> a{BFloat16(1), BFloat16(2), BFloat16(3), BFloat16(4), BFloat16(5), BFloat16(256)};
  const std::vector<BFloat16> b{BFloat16(1), BFloat16(0), BFloat16(0), BFloat16(1), BFloat16(1), BFloat16(255)};
  std::vector<float> y(4);
  std::vector<std::byte> scratch(static_cast<size_t>(p.scratch_bytes()) + 64);
  call.set(0, a.data());
  call.set(1, b.data());
  call.set(2, y.data());
  call.set_scratch(scratch.data());
  call.run();
  EXPECT_EQ(y, (std::vector<float>{4, 767, 260, 65285}));
}

TEST(onednn, reorders_between_layouts) {
  const Primitive p = make_reorder(kOp, Layout({2, 3}, f32), Layout({2, 3}, {1, 2}, f32), 1);
  Call call(p, {Role::from, Role::to});
  std::vector<float> from{1, 2, 3, 4, 5, 6}, to(6);
  std::vector<std::byte> scratch(static_cast<size_t>(p.scratch_bytes()) + 64);
  call.set(0, from.data());
  call.set(1, to.data());
  call.set_scratch(scratch.data());
  call.run();
  EXPECT_EQ(to, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

ConvDesc some_conv(ConvDesc::Kind kind, Layout weights) {
  return {.kind = kind,
          .x = Layout({2, 32, 6, 6}, {1152, 1, 192, 32}, f32),
          .weights = std::move(weights),
          .y = Layout({2, 64, 6, 6}, {2304, 1, 384, 64}, f32),
          .stride = {1, 1},
          .dilation = {1, 1},
          .before = {1, 1},
          .after = {1, 1}};
}

TEST(onednn, convolutions_tell_the_layout_they_like) {
  const Layout any = Layout::any({64, 32, 3, 3}, f32);
  const std::pair<ConvDesc::Kind, Role> kinds[] = {{ConvDesc::Kind::forward, Role::weights},
                                                   {ConvDesc::Kind::backward_data, Role::weights},
                                                   {ConvDesc::Kind::backward_weights, Role::diff_weights}};
  for (const auto& [kind, role] : kinds) {
    const Layout wanted = convolution_weights(kOp, some_conv(kind, any), 1);
    ASSERT_FALSE(wanted.is_null());
    EXPECT_GE(wanted.bytes(), 64 * 32 * 9 * 4);
    const Primitive chosen = make_convolution(kOp, some_conv(kind, any), 1);
    const Primitive given = make_convolution(kOp, some_conv(kind, wanted), 1);
    EXPECT_TRUE(chosen.layout(role) == wanted);
    EXPECT_TRUE(given.layout(role) == wanted);
    EXPECT_EQ(given.implementation(), chosen.implementation());
  }
}

TEST(onednn, convolutions_that_do_not_fit_are_refused) {
  ConvDesc desc = some_conv(ConvDesc::Kind::forward, Layout::any({64, 32, 3, 3}, f32));
  desc.before = {0, 0};
  EXPECT_THROW(make_convolution(kOp, desc, 1), InternalError);
}

TEST(onednn, errors_name_the_op_the_call_and_the_status) {
  const std::string text = error_of<InternalError>([&] {
    make_matmul(kOp, {.a = Layout({2, 3}, f32), .b = Layout({4, 2}, f32), .y = Layout({2, 2}, f32)}, 1);
  });
  for (const char* part : {"[matmul 'fc']", "oneDNN", "matmul gave status"}) EXPECT_CONTAINS(text, part);
}

TEST(onednn, refuses_roles_that_a_primitive_lacks) {
  const Primitive p =
      make_matmul(kOp, {.a = Layout({2, 3}, f32), .b = Layout({3, 2}, f32), .y = Layout({2, 2}, f32)}, 1);
  EXPECT_TRUE(p.layout(Role::bias).is_null());
  EXPECT_THROW(Call(p, {Role::bias}), InternalError);
}

}  // namespace
}  // namespace martello::onednn
