#include <martello/kernel/cpu/caches.h>
#include <martello/kernel/cpu/strided_copy.h>

#include <gtest/gtest.h>

#include <numeric>

namespace martello::cpu {
namespace {

// Copies element by element in the obvious way.
template <class T>
void naive_copy(const std::vector<CopyDim>& dims, size_t d, const T* src, T* dst) {
  if (d == dims.size()) {
    *dst = *src;
    return;
  }
  for (int64_t i = 0; i < dims[d].size; ++i) naive_copy(dims, d + 1, src + i * dims[d].src, dst + i * dims[d].dst);
}

template <class T>
void expect_elements_copied(const std::vector<CopyDim>& dims, int64_t src_size, int64_t dst_size, int64_t src_begin) {
  std::vector<T> src(static_cast<size_t>(src_size)), expected(static_cast<size_t>(dst_size), T{111});
  std::iota(src.begin(), src.end(), T{0});
  naive_copy(dims, 0, src.data() + src_begin, expected.data());
  for (const int threads : {1, 3}) {
    std::vector<T> actual(static_cast<size_t>(dst_size), T{111});
    StridedCopy(dims, sizeof(T)).run(src.data() + src_begin, actual.data(), threads);
    EXPECT_EQ(actual, expected);
  }
}

void expect_copied(const std::vector<CopyDim>& dims, int64_t src_size, int64_t dst_size, int64_t src_begin = 0) {
  expect_elements_copied<uint8_t>(dims, src_size, dst_size, src_begin);
  expect_elements_copied<uint16_t>(dims, src_size, dst_size, src_begin);
  expect_elements_copied<int32_t>(dims, src_size, dst_size, src_begin);
  expect_elements_copied<int64_t>(dims, src_size, dst_size, src_begin);
}

TEST(strided_copy, copies_dense_boxes_longer_than_a_block) {
  expect_copied({{3, 50000, 50000}, {50000, 1, 1}}, 150000, 150000);
}
TEST(strided_copy, repeats) { expect_copied({{4, 0, 100}, {100, 1, 1}}, 100, 400); }
TEST(strided_copy, repeats_one_element) { expect_copied({{3, 1, 70}, {70, 0, 1}}, 3, 210); }
TEST(strided_copy, reads_backwards) { expect_copied({{37, -1, 1}}, 37, 37, 36); }
TEST(strided_copy, transposes_odd_sizes) { expect_copied({{67, 1, 35}, {35, 67, 1}}, 67 * 35, 67 * 35); }
TEST(strided_copy, transposes_batches) {
  expect_copied({{3, 130, 130}, {13, 1, 10}, {10, 13, 1}}, 390, 390);
  expect_copied({{2, 300, 300}, {3, 1, 100}, {100, 3, 1}}, 600, 600);
}
TEST(strided_copy, transposes_more_than_a_block) {
  expect_copied({{1100, 1, 70}, {70, 1100, 1}}, 77000, 77000);
  expect_copied({{70, 1, 1100}, {1100, 70, 1}}, 77000, 77000);
  expect_copied({{3, 1, 30000}, {30000, 3, 1}}, 90000, 90000);
}
TEST(strided_copy, moves_channels_last_and_back) {
  expect_copied({{2, 13000, 13000}, {650, 1, 20}, {20, 650, 1}}, 26000, 26000);
  expect_copied({{2, 13000, 13000}, {20, 1, 650}, {650, 20, 1}}, 26000, 26000);
}
TEST(strided_copy, transposes_what_is_larger_than_the_caches) {
  const int64_t n = 64 + last_level_cache_bytes() / 4 / 1600 / 64 * 64;
  expect_elements_copied<int32_t>({{1600, 1, n}, {n, 1600, 1}}, 1600 * n, 1600 * n, 0);
}
TEST(strided_copy, copies_one_element_and_none) {
  expect_copied({}, 1, 1);
  expect_copied({{1, 5, 7}}, 1, 1);
  expect_copied({{4, 0, 0}, {0, 1, 1}}, 1, 1);
}
TEST(strided_copy, writes_with_gaps) { expect_copied({{5, 4, 16}, {4, 1, 3}}, 20, 80); }

TEST(rowwise_copy, takes_fewer_rows) {
  const RowwiseCopy copy({{4, 6, 6}, {3, 1, 2}, {2, 3, 1}}, 4);
  std::vector<int32_t> src(24), whole(24, -1), some(24, -1);
  std::iota(src.begin(), src.end(), 0);
  copy.run(src.data(), whole.data(), 4, 2);
  copy.run(src.data(), some.data(), 2, 2);
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(some[i], i < 12 ? whole[i] : -1);
}

}  // namespace
}  // namespace martello::cpu
