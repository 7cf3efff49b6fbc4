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
  loops.normalize(x.data<T>().data(), y, b, p, true);
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

TEST(column_loops, have_the_same_bits_on_every_instruction_set) {
  expect_same_columns(cpu::v2::column_loops_f32, cpu::column_loops<float>());
  expect_same_columns(cpu::v2::column_loops_f64, cpu::column_loops<double>());
  if (cpu::host_isa() == cpu::Isa::v2) return;
  expect_same_columns(cpu::v3::column_loops_f32, cpu::column_loops<float>());
  expect_same_columns(cpu::v3::column_loops_f64, cpu::column_loops<double>());
}

}  // namespace martello::testing
