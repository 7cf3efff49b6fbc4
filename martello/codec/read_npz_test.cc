#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/codec/internal/npy_header.h>
#include <martello/codec/npz.h>

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace martello {
namespace {

using internal::parse_npy_header;
using testing::error_of;

class ReadNpzFileTest : public ::testing::Test {
 protected:
  NamedTensors read(const std::string& bytes) const {
    std::ofstream(dir_ + "/a.npz", std::ios::binary) << bytes;
    return read_npz(dir_ + "/a.npz");
  }
  std::string refusal(const std::string& bytes) const {
    return error_of<InvalidArgument>([&] { read(bytes); });
  }
  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
};

void append(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>(value >> (8 * i)) : char{0};
}

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  append(file, dict.size(), version == 1 ? 2 : 4);
  return file + dict + data;
}

struct ZipOptions {
  bool packed = false;
  uint64_t claimed = 0;  // size, when it is not the true one
  uint32_t crc_error = 0;
  int times = 1;
};
// An archive with 32-bit sizes of one file, as Python's zipfile writes it.
std::string zip(const std::string& name, const std::string& data, const ZipOptions& o = {}) {
  std::string body = data;
  if (o.packed) {
    body.resize(compressBound(data.size()));
    z_stream s = {};
    deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    s.avail_in = static_cast<uInt>(data.size());
    s.next_out = reinterpret_cast<Bytef*>(body.data());
    s.avail_out = static_cast<uInt>(body.size());
    deflate(&s, Z_FINISH);
    body.resize(s.total_out);
    deflateEnd(&s);
  }
  std::string common;
  append(common, 20, 2), append(common, 0, 2), append(common, o.packed ? 8 : 0, 2), append(common, 0, 4);
  append(common, crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()) ^ o.crc_error, 4);
  append(common, body.size(), 4), append(common, o.claimed ? o.claimed : data.size(), 4);
  append(common, name.size(), 2), append(common, 0, 2);
  std::string file = "PK\x03\x04" + common + name + body;
  const size_t directory = file.size();
  for (int i = 0; i < o.times; ++i) {
    file += "PK\x01\x02", append(file, 20, 2), file += common, append(file, 0, 10), append(file, 0, 4);
    file += name;
  }
  const size_t size = file.size() - directory;
  file += "PK\x05\x06", append(file, 0, 4), append(file, o.times, 2), append(file, o.times, 2);
  append(file, size, 4), append(file, directory, 4), append(file, 0, 2);
  return file;
}

const std::string kDict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  \n";

TEST_F(ReadNpzFileTest, gives_back_what_encode_npz_wrote) {
  NamedTensors tensors = {
      {"a/b:1", HostTensor::of<int32_t>({1, 2, 3})}, {"s", 7.0f}, {"none", HostTensor(Shape(0, 3), f64)}};
  for (const DType d : {f32, f64, f16, i32, i64, u8, boolean}) tensors.emplace_back(str(d), HostTensor(Shape(2, 3), d));
  const NamedTensors back = read(encode_npz(tensors));
  ASSERT_EQ(back.size(), tensors.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].first, tensors[i].first);
    EXPECT_TRUE(back[i].second.same_bits(tensors[i].second)) << back[i].first;
  }
  EXPECT_TRUE(read(encode_npz({})).empty());
  EXPECT_THROW(read_npz(dir_ + "/none.npz"), NotFound);
}

TEST_F(ReadNpzFileTest, reads_small_packed_and_newer_archives) {
  const std::string two("\0\0\x80\x3f\0\0\0\x40", 8);
  for (const bool packed : {false, true})
    for (const char version : {1, 2, 3}) {
      const NamedTensors back = read(zip("x.npy", npy(kDict, two, version), {.packed = packed}));
      ASSERT_EQ(back.size(), 1u);
      EXPECT_EQ(back[0].first, "x");
      EXPECT_TRUE(back[0].second.same_bits(HostTensor::of<float>({1, 2})));
    }
}

TEST_F(ReadNpzFileTest, what_is_wrong_is_named) {
  const std::string two(8, '\0'), good = npy(kDict, two);
  EXPECT_CONTAINS(refusal("PK"), "too few for an archive");
  EXPECT_CONTAINS(refusal(std::string(100, 'x')), "is no zip archive");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.crc_error = 1})), "'x.npy' is damaged: its checksum");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.times = 2})), "has the name \"x.npy\" twice");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.packed = true, .claimed = 3'000'000'000})), "would unpack to more than");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.packed = true, .claimed = 1000})), "has 930");
  EXPECT_CONTAINS(refusal(zip("x.npy", npy(kDict, "1234567"))), "is f32[2], 8 bytes, but has 7");
  EXPECT_CONTAINS(refusal(zip("x.txt", "hello, this is no array")), "'x.txt' ");
  EXPECT_CONTAINS(refusal(zip("x.npy", good).substr(0, 90)), "is no zip archive, or was cut");
}

std::string header_refusal(const std::string& dict) {
  return error_of<InvalidArgument>([&] { parse_npy_header(npy(dict, "")); });
}

TEST_F(ReadNpzFileTest, headers_are_read_strictly) {
  EXPECT_EQ(parse_npy_header(npy("{'shape': (3, 4,), 'fortran_order': False, 'descr': '|u1'}", "")).shape, Shape(3, 4));
  const auto dict = [](std::string descr, std::string order, std::string shape) {
    return str("{'descr': ", descr, ", 'fortran_order': ", order, ", 'shape': ", shape, "}");
  };
  EXPECT_CONTAINS(header_refusal(dict("'|O'", "False", "(1,)")), "pickled Python objects");
  EXPECT_CONTAINS(header_refusal(dict("'>f4'", "False", "(1,)")), "has the dtype \">f4\"");
  EXPECT_CONTAINS(header_refusal(dict("'<f4'", "True", "(2, 2)")), "numpy.ascontiguousarray");
  EXPECT_CONTAINS(header_refusal(dict("'<f4'", "false", "(1,)")), "True or False is expected");
  EXPECT_CONTAINS(header_refusal(dict("'<f4'", "False", "(-1,)")), "which is no size");
  EXPECT_CONTAINS(header_refusal(dict("'<f4'", "False", "(99999999999999999999,)")), "which is no size");
  EXPECT_CONTAINS(header_refusal(dict("'<f4'", "False", "5")), "where \"(\" is expected");
  EXPECT_CONTAINS(header_refusal("{'descr': '<f4'}"), "lacks descr, fortran_order or shape");
  EXPECT_CONTAINS(header_refusal("{'descr': '<f4', 'descr': '<f4'}"), "for the second time");
  EXPECT_CONTAINS(header_refusal("[]"), "where \"{\" is expected");
}

// It may be read or refused, but nothing else happens; sanitizers look on.
TEST_F(ReadNpzFileTest, damaged_files_are_refused_or_read) {
  const std::string data(40, '\1');
  std::mt19937 random(5);
  for (const std::string& good : {encode_npz({{"a", HostTensor({3, 4}, f32)}, {"b", HostTensor({2}, boolean)}}),
                                  zip("x.npy", npy(kDict, data.substr(0, 8)), {.packed = true})})
    for (int i = 0; i < 400; ++i) {
      std::string bytes = good;
      for (int k = 0; k <= i % 3; ++k) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      if (i % 5 == 0) bytes.resize(random() % bytes.size());
      try {
        read(bytes);
      } catch (const InvalidArgument&) {
      }
    }
}

}  // namespace
}  // namespace martello
