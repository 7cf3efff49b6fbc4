#include <gtest/gtest.h>
#include <martello/base/error.h>
#include <martello/base/internal/test_text.h>
#include <martello/tensor/host_tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace martello {
namespace {

using testing::error_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

template <class To, class From>
To cast_one(From v) {
  return HostTensor(v).cast(dtype_of<To>).template scalar<To>();
}

TEST(HostTensor, starts_with_zeros) {
  for (int i = 0; i < kDTypes; ++i) {
    const HostTensor t({3, 5}, static_cast<DType>(i));
    EXPECT_EQ(t.num_bytes(), 15 * size_of(t.dtype()));
    EXPECT_TRUE(std::all_of(t.raw(), t.raw() + t.num_bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(HostTensor, of_values_keeps_their_order) {
  const auto t = HostTensor::of<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(t.dtype(), f32);
  EXPECT_EQ(t.shape(), Shape(2, 2));
  EXPECT_EQ(t.data<float>()[2], 3.f);
  EXPECT_EQ(HostTensor::of<int64_t>({5, 6, 7}).shape(), Shape(3));
}

TEST(HostTensor, refuses_another_number_of_values) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] {
                    HostTensor::of<float>({1, 2, 3}, {2, 2});
                  }),
                  "3 values for f32[2, 2], which has 4");
}

TEST(HostTensor, of_rank_0_has_one_element) {
  const HostTensor t(2.5);
  EXPECT_EQ(t.shape(), Shape());
  EXPECT_EQ(t.dtype(), f64);
  EXPECT_EQ(t.num_elements(), 1);
  EXPECT_EQ(t.scalar<double>(), 2.5);
  EXPECT_EQ(t.str(), "f64[] 2.5");
}

TEST(HostTensor, of_zero_size_is_legal) {
  HostTensor t({0, 3}, f32);
  EXPECT_EQ(t.num_elements(), 0);
  EXPECT_TRUE(t.mutable_data<float>().empty());
  EXPECT_FALSE(t.is_shared());
  EXPECT_EQ(t.cast(i32).shape(), Shape(0, 3));
  EXPECT_TRUE(t.same_bits(HostTensor({0, 3}, f32)));
  EXPECT_EQ(HostTensor::of<float>({}).str(), "f32[0]");
  EXPECT_EQ(HostTensor().num_elements(), 0);
}

TEST(HostTensor, unknown_and_negative_dimensions_are_refused) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { HostTensor({2, kUnknown}, f32); }), "f32[2, ?]");
  EXPECT_THROW(HostTensor(Shape(-5), f32), InvalidArgument);
}

TEST(HostTensor, a_count_beyond_64_bits_is_refused_with_the_shape) {
  const Shape shape(int64_t{1} << 40, int64_t{1} << 40);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { HostTensor(shape, u8); }), "[1099511627776, 1099511627776]");
}

TEST(HostTensor, bytes_beyond_64_bits_are_refused_with_the_shape) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { HostTensor({int64_t{1} << 61}, f64); }), "f64[2305843009213693952]");
}

TEST(HostTensor, more_than_memory_is_refused_with_bytes_and_shape) {
  const Shape shape(1024, int64_t{1} << 40);
  EXPECT_EQ(error_of<InvalidArgument>([&] { HostTensor(shape, f32); }),
            "[host_tensor] cannot allocate 4503599627370496 bytes for f32[1024, 1099511627776].");
}

TEST(HostTensor, copies_share_until_one_is_written) {
  auto a = HostTensor::of<float>({1, 2});
  HostTensor b = a;
  EXPECT_EQ(a.raw(), b.raw());
  EXPECT_TRUE(a.is_shared());
  b.mutable_data<float>()[0] = 9;
  EXPECT_EQ(a.data<float>()[0], 1.f);
  EXPECT_EQ(b.data<float>()[1], 2.f);
  EXPECT_FALSE(a.is_shared());
}

TEST(HostTensor, writing_a_private_tensor_copies_nothing) {
  HostTensor t({4}, f32);
  const std::byte* before = t.raw();
  t.mutable_data<float>()[0] = 1;
  EXPECT_EQ(t.raw(), before);
}

TEST(HostTensor, may_be_written_when_other_threads_have_dropped_their_copies) {
  for (int round = 0; round < 50; ++round) {
    auto t = HostTensor::of<int64_t>({1, 2, 3});
    int64_t sum = 0;
    std::thread reader([&sum, copy = t]() mutable {
      for (int64_t v : copy.data<int64_t>()) sum += v;
      copy = HostTensor();
    });
    t.mutable_data<int64_t>()[0] = 100;
    reader.join();
    EXPECT_EQ(sum, 6);
  }
}

TEST(HostTensor, access_by_another_type_is_refused_with_both) {
  HostTensor t({2}, f32);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { t.data<int32_t>(); }), "f32[2] was asked for its data as i32");
  EXPECT_THROW(t.mutable_data<double>(), InvalidArgument);
  EXPECT_THROW(HostTensor(1.f).scalar<int64_t>(), InvalidArgument);
}

TEST(HostTensor, scalar_of_many_is_refused) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { HostTensor({2, 2}, f32).scalar<float>(); }), "f32[2, 2], which has 4");
}

TEST(HostTensor, long_long_is_i64) {
  EXPECT_EQ(HostTensor(5LL).dtype(), i64);
  EXPECT_EQ(HostTensor(5LL).data<long long>()[0], 5);
}

TEST(HostTensor, at_and_set_work_for_all_dtypes) {
  for (int i = 0; i < kDTypes; ++i) {
    HostTensor t({3}, static_cast<DType>(i));
    t.set(1, 1);
    EXPECT_EQ(t.at(0), 0);
    EXPECT_EQ(t.at(1), 1);
  }
}

TEST(HostTensor, at_and_set_out_of_range_are_refused) {
  HostTensor t({3}, f32);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { t.at(3); }), "element 3 is out of range for f32[3]");
  EXPECT_THROW(t.set(-1, 0), InvalidArgument);
}

TEST(HostTensor, set_does_not_write_into_copies) {
  HostTensor a({1}, f32);
  const HostTensor b = a;
  a.set(0, 5);
  EXPECT_EQ(b.at(0), 0);
}

TEST(HostTensor, full_fills_with_the_converted_value) {
  EXPECT_EQ(HostTensor::full({2}, i32, 2.9).str(), "i32[2] 2 2");
  EXPECT_EQ(HostTensor::full({2}, boolean, 0.5).str(), "bool[2] true true");
}

TEST(HostTensorCast, integers_truncate_toward_zero) {
  EXPECT_EQ(cast_one<int32_t>(2.9f), 2);
  EXPECT_EQ(cast_one<int64_t>(-2.9), -2);
}

TEST(HostTensorCast, what_does_not_fit_is_clamped) {
  EXPECT_EQ(cast_one<int32_t>(1e10), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(cast_one<int32_t>(-kInf), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(cast_one<int64_t>(0x1p63), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cast_one<int64_t>(-1e30f), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(cast_one<uint8_t>(-1), 0);
  EXPECT_EQ(cast_one<uint8_t>(256.5f), 255);
  EXPECT_EQ(cast_one<int32_t>(int64_t{1} << 40), std::numeric_limits<int32_t>::max());
}

TEST(HostTensorCast, nan_becomes_zero_as_an_integer_and_true_as_a_bool) {
  EXPECT_EQ(cast_one<int32_t>(kNan), 0);
  EXPECT_EQ(cast_one<uint8_t>(static_cast<float>(kNan)), 0);
  EXPECT_TRUE(cast_one<bool>(kNan));
}

TEST(HostTensorCast, large_integers_stay_exact) {
  const int64_t v = (int64_t{1} << 53) + 1;
  EXPECT_EQ(HostTensor(v).str(), "i64[] 9007199254740993");
  EXPECT_EQ(cast_one<int64_t>(int32_t{-2147483647 - 1}), -2147483648);
}

TEST(HostTensorCast, bool_is_whether_not_zero) {
  EXPECT_TRUE(cast_one<bool>(0.1f));
  EXPECT_FALSE(cast_one<bool>(-0.f));
  EXPECT_EQ(cast_one<float>(true), 1.f);
}

TEST(HostTensorCast, double_to_16_bits_rounds_once) {
  // Just above the middle of two f16 and of two bf16, by less than a float can show.
  EXPECT_EQ(static_cast<float>(cast_one<Float16>(1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10f);
  EXPECT_EQ(static_cast<float>(cast_one<BFloat16>(1 + 0x1p-8 + 0x1p-40)), 1 + 0x1p-7f);
  EXPECT_EQ(static_cast<float>(cast_one<Float16>(-(1 + 0x1p-11 + 0x1p-40))), -(1 + 0x1p-10f));
  EXPECT_EQ(static_cast<float>(cast_one<Float16>(1 + 3 * 0x1p-11 - 0x1p-40)), 1 + 0x1p-10f);
  EXPECT_EQ(static_cast<float>(cast_one<Float16>(1 + 0x1p-11)), 1.f);
}

TEST(HostTensorCast, double_beyond_the_range_of_16_bits_is_infinite_or_zero) {
  EXPECT_EQ(static_cast<double>(cast_one<Float16>(-1e300)), -kInf);
  EXPECT_EQ(static_cast<double>(cast_one<BFloat16>(1e300)), kInf);
  EXPECT_EQ(static_cast<double>(cast_one<BFloat16>(1e-300)), 0);
  EXPECT_TRUE(std::isnan(static_cast<float>(cast_one<Float16>(kNan))));
}

TEST(HostTensorCast, to_the_same_dtype_shares_the_bytes) {
  const HostTensor t({4}, f32);
  EXPECT_EQ(t.cast(f32).raw(), t.raw());
}

TEST(HostTensor, reshaped_shares_the_bytes) {
  const auto t = HostTensor::of<float>({1, 2, 3, 4, 5, 6});
  const HostTensor r = t.reshaped({2, 3});
  EXPECT_EQ(r.raw(), t.raw());
  EXPECT_EQ(r.shape(), Shape(2, 3));
}

TEST(HostTensor, reshaped_to_another_count_is_refused_with_both_shapes) {
  EXPECT_CONTAINS(error_of<InvalidArgument>([] { HostTensor({6}, f32).reshaped({4}); }),
                  "f32[6] with 6 elements cannot be reshaped to [4] with 4");
  EXPECT_THROW(HostTensor({6}, f32).reshaped({kUnknown}), InvalidArgument);
}

TEST(HostTensor, same_bits_compares_dtype_shape_and_bytes) {
  const auto t = HostTensor::of<float>({0, 1});
  EXPECT_TRUE(t.same_bits(HostTensor::of<float>({0, 1})));
  EXPECT_FALSE(t.same_bits(HostTensor::of<float>({-0.f, 1})));
  EXPECT_FALSE(t.same_bits(t.reshaped({1, 2})));
  EXPECT_FALSE(HostTensor({1}, i32).same_bits(HostTensor({1}, f32)));
}

TEST(HostTensor, text_is_shortest_per_dtype_and_long_ones_are_cut) {
  EXPECT_EQ(HostTensor::of<float>({0.1f, 1e10f}).str(), "f32[2] 0.1 1e+10");
  EXPECT_EQ(HostTensor::of<uint8_t>({1, 200}).str(), "u8[2] 1 200");
  EXPECT_EQ(HostTensor({100}, boolean).str().substr(0, 15), "bool[100] false");
  EXPECT_TRUE(HostTensor({100}, i32).str().ends_with("0 0 ..."));
}

TEST(HostTensor, wrap_uses_the_buffer_and_refuses_a_small_one) {
  const Buffer buffer(16);
  EXPECT_EQ(HostTensor::wrap(buffer, {4}, f32).raw(), buffer.data());
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { HostTensor::wrap(buffer, {5}, f32); }),
                  "f32[5] needs 20 bytes, the buffer has 16");
  EXPECT_THROW(HostTensor::wrap(Buffer(), {0}, f32), InvalidArgument);
}

TEST(HostTensor, bool_bytes_from_outside_read_as_true) {
  const Buffer buffer(2);
  buffer.data()[0] = std::byte{2};
  buffer.data()[1] = std::byte{0};
  const auto t = HostTensor::wrap(buffer, {2}, boolean);
  EXPECT_EQ(t.at(0), 1);
  EXPECT_EQ(t.str(), "bool[2] true false");
  EXPECT_EQ(t.cast(i32).str(), "i32[2] 1 0");
}

}  // namespace
}  // namespace martello
