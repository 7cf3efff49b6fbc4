#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/codec/internal/npy_header.h>
#include <martello/codec/npz.h>

#include <gtest/gtest.h>
#include <sys/stat.h>
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

std::string deflated(const std::string& data) {
  std::string packed(compressBound(data.size()), '\0');
  z_stream s = {};
  deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  s.avail_in = static_cast<uInt>(data.size());
  s.next_out = reinterpret_cast<Bytef*>(packed.data());
  s.avail_out = static_cast<uInt>(packed.size());
  deflate(&s, Z_FINISH);
  packed.resize(s.total_out);
  deflateEnd(&s);
  return packed;
}

struct ZipOptions {
  bool packed = false;
  uint64_t claimed = 0;  // size, when it is not the true one
  uint32_t crc_error = 0;
  std::string listed = {};  // its name in the directory, when it is another
};
// An archive with 32-bit sizes, as Python's zipfile writes it.
class Zip {
 public:
  Zip& add(const std::string& name, const std::string& data, const ZipOptions& o = {}) {
    const std::string body = o.packed ? deflated(data) : data;
    std::string common;
    append(common, 20, 2), append(common, 0, 2), append(common, o.packed ? 8 : 0, 2), append(common, 0, 4);
    append(common, crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()) ^ o.crc_error, 4);
    append(common, body.size(), 4), append(common, o.claimed ? o.claimed : data.size(), 4);
    list(common, o.listed.empty() ? name : o.listed);
    append(common, name.size(), 2), append(common, 0, 2);
    files_ += "PK\x03\x04" + common + name + body;
    return *this;
  }
  // The bytes of the last file under another name too.
  Zip& add_again(const std::string& name) {
    ++count_, directory_ += last_begin_;
    append(directory_, name.size(), 2), directory_ += last_end_ + name;
    return *this;
  }
  std::string bytes() const {
    std::string file = files_ + directory_ + "PK\x05\x06";
    append(file, 0, 4), append(file, count_, 2), append(file, count_, 2);
    append(file, directory_.size(), 4), append(file, files_.size(), 4), append(file, 0, 2);
    return file;
  }

 private:
  void list(const std::string& common, const std::string& name) {
    last_begin_ = "PK\x01\x02", append(last_begin_, 20, 2), last_begin_ += common;
    last_end_.clear(), append(last_end_, 0, 12), append(last_end_, files_.size(), 4);
    add_again(name);
  }
  std::string files_, directory_, last_begin_, last_end_;
  uint64_t count_ = 0;
};
std::string zip(const std::string& name, const std::string& data, const ZipOptions& o = {}) {
  return Zip().add(name, data, o).bytes();
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

TEST_F(ReadNpzFileTest, what_is_no_file_is_refused) {
  ASSERT_EQ(mkfifo((dir_ + "/pipe.npz").c_str(), 0600), 0);
  for (const std::string& path : {dir_ + "/pipe.npz", dir_})
    EXPECT_CONTAINS(error_of<InvalidArgument>([&] { read_npz(path); }), "is no regular file");
}

TEST_F(ReadNpzFileTest, what_is_wrong_is_named) {
  const std::string two(8, '\0'), good = npy(kDict, two);
  EXPECT_CONTAINS(refusal("PK"), "too few for an archive");
  EXPECT_CONTAINS(refusal(std::string(100, 'x')), "is no zip archive");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.crc_error = 1})), "'x.npy' is damaged: its checksum");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.packed = true, .claimed = 3'000'000'000})), "would unpack to more than");
  EXPECT_CONTAINS(refusal(zip("x.npy", good, {.packed = true, .claimed = 1000})), "has 930");
  EXPECT_CONTAINS(refusal(zip("x.npy", npy(kDict, "1234567"))), "is f32[2], 8 bytes, but has 7");
  EXPECT_CONTAINS(refusal(zip("x.txt", "hello, this is no array")), "'x.txt' ");
  EXPECT_CONTAINS(refusal(zip("x.npy", good).substr(0, 90)), "is no zip archive, or was cut");
}

TEST_F(ReadNpzFileTest, every_array_has_its_own_name_and_bytes) {
  const std::string one = npy(kDict, std::string(8, '\1')), two = npy(kDict, std::string(8, '\2'));
  EXPECT_EQ(read(Zip().add("v.npy", one).add("w.npy", two).bytes()).size(), 2u);
  EXPECT_CONTAINS(refusal(Zip().add("w.npy", one).add("w.npy", two).bytes()), "has the array \"w\" twice");
  EXPECT_CONTAINS(refusal(Zip().add("w", one).add("w.npy", two).bytes()), "has the array \"w\" twice");
  EXPECT_CONTAINS(refusal(Zip().add("w.npy", one, {.listed = "v.npy"}).bytes()),
                  "has \"w.npy\" where its directory announces \"v.npy\"");
  EXPECT_CONTAINS(refusal(Zip().add("w.npy", one).add_again("w.npy").bytes()), "has 'w.npy' on the same bytes as");
}

TEST_F(ReadNpzFileTest, a_file_within_a_file_shares_its_bytes) {
  const std::string one = npy(kDict, std::string(8, '\1')), inner = Zip().add("w.npy", one).bytes();
  std::string bytes = Zip().add("v.npy", inner).add("w.npy", one).bytes();
  const size_t place = bytes.rfind("w.npy") - 4;  // of the second file, in the directory
  bytes[place] = 30 + 5, bytes[place + 1] = 0;    // behind the header of the first
  EXPECT_CONTAINS(refusal(bytes), "has 'v.npy' on the same bytes as 'w.npy'");
}

// Two characters of a header would become eight bytes of a shape.
TEST_F(ReadNpzFileTest, shapes_have_no_more_dimensions_than_numpys) {
  const auto dict = [](int ones) {
    std::string shape = "0,";
    for (int i = 0; i < ones; ++i) shape += "1,";
    return "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}\n";
  };
  EXPECT_EQ(read(zip("x.npy", npy(dict(63), "")))[0].second.shape().rank(), 64);
  EXPECT_CONTAINS(refusal(zip("x.npy", npy(dict(64), ""), {.packed = true})), "shape of more than 64 dimensions");
}

TEST_F(ReadNpzFileTest, many_small_arrays_are_refused_before_they_take_memory) {
  NamedTensors tensors;
  for (int i = 0; i < 100'000; ++i) tensors.emplace_back(str(i), HostTensor());
  EXPECT_CONTAINS(refusal(encode_npz(tensors)), "with its 100000 files");
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
  EXPECT_CONTAINS(header_refusal(dict("[('a', '<f4'), ('b', '|O')]", "False", "(1,)")), "has named fields");
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
