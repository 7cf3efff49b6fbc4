#include <martello/kernel/cpu/isa.h>
#include <martello/ops/internal/channel_loops.h>
#include <martello/testing/op_test.h>

#include <gtest/gtest.h>

#include <cstring>

namespace martello::testing {
namespace {

template <class T>
std::vector<T> all_column_results(const cpu::ColumnLoops<T>& loops, const cpu::ColumnBlock& b) {
  const int64_t n = b.rows * b.stride + b.tail;
  const HostTensor x = randn({n}).cast(dtype_of<T>), dy = randn({n}, 2).cast(dtype_of<T>);
  const auto w = static_cast<size_t>(b.width);
  std::vector<T> r(2 * static_cast<size_t>(n) + 4 * w, T{0});
  T *numbers = r.data(), *y = r.data() + 4 * w, *dx = y + n;
  loops.moments(x.data<T>().data(), b, numbers, numbers + w);
  const cpu::ChannelAffine<T> p = {numbers, numbers + w, numbers, true};
  loops.gradient_sums(x.data<T>().data(), dy.data<T>().data(), b, p, numbers + 2 * w, numbers + 3 * w);
  loops.normalize(x.data<T>().data(), dy.data<T>().data(), y, b, p, true);
  loops.gradient(x.data<T>().data(), dy.data<T>().data(), dx, b, p, {numbers, numbers + w, numbers + 2 * w}, false);
  return r;
}
template <class T>
void expect_same_columns(const cpu::ColumnLoops<T>& a, const cpu::ColumnLoops<T>& b) {
  for (const cpu::ColumnBlock block : {cpu::ColumnBlock{0, 48, 48, 21}, {13, 48, 48, 3}, {9, 17, 30, 0}}) {
    const auto x = all_column_results(a, block), y = all_column_results(b, block);
    EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(T)), 0) << block.rows << " " << block.width;
  }
}

}  // namespace

// What every level makes of bf16.
std::vector<float> bf16_results(const cpu::ColumnLoops<float, uint16_t>& loops, const cpu::ColumnBlock& b) {
  const int64_t n = b.rows * b.stride + b.tail;
  const HostTensor x = randn({n}).cast(bf16), dy = randn({n}, 2).cast(f32);
  const auto* bits = reinterpret_cast<const uint16_t*>(x.raw());
  const auto w = static_cast<size_t>(b.width);
  std::vector<float> r(2 * static_cast<size_t>(n) + 4 * w, 0);
  float *numbers = r.data(), *y = r.data() + 4 * w, *dx = y + n;
  loops.moments(bits, b, numbers, numbers + w);
  const cpu::ChannelAffine<float> p = {numbers, numbers + w, numbers, true};
  loops.gradient_sums(bits, dy.data<float>().data(), b, p, numbers + 2 * w, numbers + 3 * w);
  loops.normalize(bits, dy.data<float>().data(), y, b, p, false);
  loops.gradient(bits, dy.data<float>().data(), dx, b, p, {numbers, numbers + w, numbers + 2 * w}, false);
  return r;
}
TEST(column_loops, have_the_same_bits_on_every_instruction_set_with_bf16) {
  for (const cpu::ColumnBlock b : {cpu::ColumnBlock{0, 48, 48, 21}, {13, 48, 48, 3}, {9, 17, 30, 0}}) {
    const auto expected = bf16_results(cpu::column_loops<float, uint16_t>(), b);
    EXPECT_EQ(bf16_results(cpu::v2::column_loops_bf16, b), expected);
    if (cpu::host_isa() == cpu::Isa::v2) continue;
    EXPECT_EQ(bf16_results(cpu::v3::column_loops_bf16, b), expected);
  }
}

TEST(column_loops, have_the_same_bits_on_every_instruction_set) {
  expect_same_columns(cpu::v2::column_loops_f32, cpu::column_loops<float>());
  expect_same_columns(cpu::v2::column_loops_f64, cpu::column_loops<double>());
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_same_columns(cpu::v3::column_loops_f32, cpu::column_loops<float>());
  expect_same_columns(cpu::v3::column_loops_f64, cpu::column_loops<double>());
}

}  // namespace martello::testing
