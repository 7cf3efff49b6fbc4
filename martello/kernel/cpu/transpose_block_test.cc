#include <martello/kernel/cpu/isa.h>
#include <martello/kernel/cpu/transpose_block.h>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace martello::cpu {
namespace {

struct Case {
  int64_t width, rows, columns, src_gap, dst_gap, dst_offset;
  bool streaming;
};

// Bytes that differ within any element and between neighbours.
std::vector<char> pattern(int64_t n) {
  std::vector<char> x(static_cast<size_t>(n));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<char>(i * 131 + i / 251);
  return x;
}

// dst starts at a cache line plus an offset and is followed by gaps that must stay as they are.
void check(TransposeLoop loop, const Case& c) {
  const int64_t src_stride = c.rows * c.width + c.src_gap, dst_stride = c.columns * c.width + c.dst_gap;
  const std::vector<char> src = pattern(c.columns * src_stride);
  std::vector<char> buffer(static_cast<size_t>(c.rows * dst_stride + 128), 77);
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  char* const dst = buffer.data() + (64 - address % 64) % 64 + c.dst_offset;
  std::vector<char> expected = buffer;
  char* const expected_dst = expected.data() + (dst - buffer.data());
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t k = 0; k < c.columns; ++k)
      std::memcpy(expected_dst + r * dst_stride + k * c.width, src.data() + k * src_stride + r * c.width,
                  static_cast<size_t>(c.width));
  }
  loop({src.data(), src_stride, dst, dst_stride, c.rows, c.columns, c.streaming});
  ASSERT_EQ(buffer, expected) << c.width << " bytes, " << c.rows << " x " << c.columns;
}

void check_all(TransposeLoop (*level)(int64_t)) {
  for (int64_t width : {1, 2, 4, 8}) {
    for (int64_t rows : {1, 3, 4, 7, 8, 15, 16, 17, 33, 64}) {
      for (int64_t columns : {1, 2, 4, 5, 8, 13, 16, 31, 32, 64}) {
        check(level(width), {width, rows, columns, 0, 0, 0, false});
        check(level(width), {width, rows, columns, 5, 3, 1, false});
        check(level(width), {width, rows, columns, 0, 0, 0, true});
        check(level(width), {width, rows, columns, 24, 64, 8, true});
      }
    }
  }
}

TEST(TransposeBlock, moves_every_element_and_nothing_else_on_every_level) {
  check_all(v2::transpose_loop);
  if (host_isa() != Isa::v2) check_all(v3::transpose_loop);
  if (host_isa() == Isa::v4) check_all(v4::transpose_loop);
}

}  // namespace
}  // namespace martello::cpu
