#include <martello/base/internal/test_text.h>
#include <martello/codec/npz.h>

#include <zlib.h>

#include <cstring>
#include <map>

namespace martello {
namespace {

using testing::error_of;

uint64_t number(std::string_view bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value |= uint64_t(uint8_t(bytes[at + static_cast<size_t>(i)])) << (8 * i);
  return value;
}

// Files of an archive by the directory at its end, checked against their headers and checksums.
std::map<std::string, std::string> unzip(std::string_view zip) {
  std::map<std::string, std::string> files;
  const size_t end = zip.size() - 22, locator = end - 20;
  EXPECT_EQ(number(zip, end, 4), 0x06054b50u);
  EXPECT_EQ(number(zip, locator, 4), 0x07064b50u);
  const size_t end64 = number(zip, locator + 8, 8);
  EXPECT_EQ(number(zip, end64, 4), 0x06064b50u);
  EXPECT_EQ(end64 + 12 + number(zip, end64 + 4, 8), locator);
  size_t at = number(zip, end64 + 48, 8);
  EXPECT_EQ(at + number(zip, end64 + 40, 8), end64);
  for (uint64_t i = 0; i < number(zip, end64 + 32, 8); ++i) {
    EXPECT_EQ(number(zip, at, 4), 0x02014b50u);
    const size_t name_size = number(zip, at + 28, 2), extra_size = number(zip, at + 30, 2);
    const std::string name(zip.substr(at + 46, name_size));
    const size_t extra = at + 46 + name_size;
    const uint64_t size = number(zip, extra + 4, 8), local = number(zip, extra + 20, 8);
    EXPECT_EQ(number(zip, local, 4), 0x04034b50u);
    EXPECT_EQ(zip.substr(local + 30, name_size), name);
    const size_t data = local + 30 + number(zip, local + 26, 2) + number(zip, local + 28, 2);
    files[name] = zip.substr(data, size);
    const std::string& bytes = files[name];
    EXPECT_EQ(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()), number(zip, at + 16, 4));
    at = extra + extra_size;
  }
  EXPECT_EQ(at, end64);
  return files;
}

std::string header(const std::string& npy) { return npy.substr(10, number(npy, 8, 2)); }

TEST(npz, holds_every_dtype_as_numpy_writes_it) {
  NamedTensors tensors;
  for (const DType d : {f32, f64, f16, bf16, i32, i64, u8, boolean})
    tensors.emplace_back(str(d), HostTensor(Shape(2, 3), d));
  const auto files = unzip(encode_npz(tensors));
  const std::map<std::string, std::string> descr = {{"f32", "<f4"}, {"f64", "<f8"}, {"f16", "<f2"}, {"bf16", "<f4"},
                                                    {"i32", "<i4"}, {"i64", "<i8"}, {"u8", "|u1"},  {"bool", "|b1"}};
  EXPECT_EQ(files.size(), descr.size());
  for (const auto& [name, text] : descr) {
    const std::string& npy = files.at(name + ".npy");
    EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_CONTAINS(header(npy), str("{'descr': '", text, "', 'fortran_order': False, 'shape': (2, 3), }"));
    EXPECT_EQ((10 + header(npy).size()) % 64, 0u);
    EXPECT_EQ(header(npy).back(), '\n');
  }
}

TEST(npz, holds_shapes_and_values) {
  HostTensor half(Shape(2), bf16);
  half.set(1, 1.5);
  const auto files = unzip(encode_npz({{"a/b:1", HostTensor::of<int32_t>({1, 2, 3})}, {"s", 7.0f}, {"half", half}}));
  const std::string &a = files.at("a/b:1.npy"), &s = files.at("s.npy"), &h = files.at("half.npy");
  EXPECT_CONTAINS(header(a), "'shape': (3,)");
  EXPECT_CONTAINS(header(s), "'shape': ()");
  int32_t ints[3];
  ASSERT_EQ(a.size(), 10 + header(a).size() + sizeof ints);
  std::memcpy(ints, a.data() + a.size() - sizeof ints, sizeof ints);
  EXPECT_EQ(ints[2], 3);
  float f;
  std::memcpy(&f, h.data() + h.size() - sizeof f, sizeof f);
  EXPECT_EQ(f, 1.5f);
}

TEST(npz, may_be_empty) { EXPECT_TRUE(unzip(encode_npz({})).empty()); }

TEST(npz, refuses_names_that_are_taken_or_none) {
  EXPECT_CONTAINS(error_of([] { encode_npz({{"a", 1.0f}, {"a", 2.0f}}); }), "two tensors are called 'a'");
  EXPECT_CONTAINS(error_of([] { encode_npz({{"", 1.0f}}); }), "has 0 bytes");
}

}  // namespace
}  // namespace martello
