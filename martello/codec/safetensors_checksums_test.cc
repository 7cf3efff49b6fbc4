#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/codec/safetensors.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace martello {
namespace {

using testing::error_of;

class ChecksumsTest : public ::testing::Test {
 protected:
  ChecksumsTest() {
    write_safetensors(path_, tensors_, {{"by", "hand"}}, {.checksums = true});
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  const testing::TestDir folder_;
  const std::string path_ = folder_.file("a.safetensors");
  std::string bytes_;
  std::vector<NamedTensor> tensors_ = {{"b", HostTensor::of<float>({1, 2, 3})},
                                       {"a", HostTensor::of<uint8_t>({7})},
                                       {"empty", HostTensor(Shape(0), f64)},
                                       {"c", HostTensor({40, 50}, i32)}};
};

TEST_F(ChecksumsTest, are_read_back_and_not_among_the_metadata) {
  const SafetensorsFile file(path_);
  EXPECT_TRUE(file.has_checksums());
  file.verify();
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"by", "hand"}}));
  for (const NamedTensor& t : tensors_) EXPECT_TRUE(file.read(t.name).same_bits(t.value)) << t.name;
}

TEST_F(ChecksumsTest, every_flipped_bit_is_found) {
  for (size_t at = 0; at < bytes_.size(); at += at < 700 ? 1 : 97)
    for (const size_t bit : {at % 8, (at + 5) % 8}) {  // 5 makes small letters of capitals
      std::string bytes = bytes_;
      bytes[at] = static_cast<char>(bytes[at] ^ (1u << bit));
      write(bytes);
      EXPECT_THROW(SafetensorsFile(path_).verify(), Error) << "bit " << bit << " of byte " << at;
    }
}

TEST_F(ChecksumsTest, a_cut_file_is_refused) {
  for (size_t size = 0; size < bytes_.size(); size += 61) {
    write(bytes_.substr(0, size));
    EXPECT_THROW(SafetensorsFile(path_).verify(), Error) << size;
  }
}

TEST_F(ChecksumsTest, damage_is_named) {
  std::string bytes = bytes_;
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write(bytes);
  const SafetensorsFile file(path_);
  EXPECT_TRUE(file.read("b").same_bits(tensors_[0].value));
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { file.read("a"); }), "tensor 'a' is damaged: its checksum is");
}

TEST_F(ChecksumsTest, are_optional) {
  write_safetensors(path_, tensors_);
  const SafetensorsFile file(path_);
  EXPECT_FALSE(file.has_checksums());
  EXPECT_CONTAINS(error_of<FailedPrecondition>([&] { file.verify(); }), "has no checksums");
}

TEST_F(ChecksumsTest, writing_can_be_given_up) {
  struct Enough : std::exception {};
  const auto stop = [] { throw Enough(); };
  EXPECT_THROW(write_safetensors(path_, tensors_, {}, {.check = stop}), Enough);
  SafetensorsFile(path_).verify();
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

}  // namespace
}  // namespace martello
