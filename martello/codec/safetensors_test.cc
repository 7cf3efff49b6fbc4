#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/codec/safetensors.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace martello {
namespace {

namespace fs = std::filesystem;
using testing::error_of;

class SafetensorsTest : public ::testing::Test {
 protected:
  void write_bytes(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  void write_header(const std::string& header, const std::string& data = "") const {
    const uint64_t length = header.size();
    write_bytes(std::string(reinterpret_cast<const char*>(&length), 8) + header + data);
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string refusal() const {
    return error_of<InvalidArgument>([&] { SafetensorsFile file(path_); });
  }
  std::string refusal_of(const std::string& header, const std::string& data = "") const {
    write_header(header, data);
    return refusal();
  }

  const testing::TestDir folder_;
  const std::string dir_ = folder_.path();
  const std::string path_ = dir_ + "/model.safetensors";
};

TEST_F(SafetensorsTest, writes_the_bytes_of_the_format) {
  write_safetensors(path_, {{"b", HostTensor::of<uint8_t>({7, 8})}, {"a", HostTensor(1.5f)}}, {{"who", "me"}});
  const std::string header = R"({"__metadata__":{"who":"me"},"a":{"data_offsets":[0,4],"dtype":"F32","shape":[]},)"
                             R"("b":{"data_offsets":[4,6],"dtype":"U8","shape":[2]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  const uint64_t length = padded.size();
  EXPECT_EQ(bytes(),
            std::string(reinterpret_cast<const char*>(&length), 8) + padded + std::string("\0\0\xc0\x3f\x07\x08", 6));
}

TEST_F(SafetensorsTest, reads_every_dtype_back_bit_for_bit) {
  std::vector<NamedTensor> tensors = {{"scalar", HostTensor(int64_t{-5})}, {"empty", HostTensor({0, 3}, f32)}};
  for (int d = 0; d < kDTypes; ++d) {
    HostTensor t({2, 3}, static_cast<DType>(d));
    for (int64_t i = 0; i < 6; ++i) t.set(i, static_cast<double>(t.dtype() == boolean ? i % 2 : i));
    tensors.push_back({str("of ", t.dtype()), t});
  }
  write_safetensors(path_, tensors);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.entries().size(), tensors.size());
  EXPECT_TRUE(file.metadata().empty());
  for (const auto& [name, value] : tensors) EXPECT_TRUE(file.read(name).same_bits(value)) << name;
}

TEST_F(SafetensorsTest, keeps_metadata_and_odd_names) {
  const std::map<std::string, std::string> metadata = {{"position", "\"e\": 3\n\\"}, {"", "empty key"}};
  write_safetensors(path_, {{"Gewöhnung/\"W\"\n", HostTensor(1.f)}}, metadata);
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.metadata(), metadata);
  EXPECT_EQ(file.read("Gewöhnung/\"W\"\n").scalar<float>(), 1.f);
}

TEST_F(SafetensorsTest, reads_what_others_write) {
  write_header(R"({"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"__metadata__":{"format":"pt"}}   )",
               std::string("\x00\x3c\x00\xc0", 4));
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.read("x").at(0), 1);
  EXPECT_EQ(file.read("x").at(1), -2);
}

TEST_F(SafetensorsTest, a_missing_tensor_or_file_is_not_found) {
  EXPECT_CONTAINS(error_of<NotFound>([&] { SafetensorsFile file(path_); }), path_);
  write_safetensors(path_, {{"conv1/W", HostTensor(1.f)}});
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.find("conv1/V"), nullptr);
  const std::string text = error_of<NotFound>([&] { file.read("conv1/V"); });
  EXPECT_CONTAINS(text, "has no tensor 'conv1/V'");
  EXPECT_CONTAINS(text, "conv1/W");
}

TEST_F(SafetensorsTest, the_writer_refuses_names_that_are_taken_or_no_text) {
  const HostTensor x(1.f);
  const auto refused = [&](const std::vector<NamedTensor>& t) {
    return error_of<InvalidArgument>([&] { write_safetensors(path_, t); });
  };
  EXPECT_CONTAINS(refused({{"w", x}, {"w", HostTensor(int64_t{1})}}), "the name 'w' is taken");
  EXPECT_CONTAINS(refused({{"__metadata__", x}}), "the name '__metadata__' is taken");
  EXPECT_CONTAINS(refused({{"\xff", x}}), "no UTF-8");
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_CONTAINS(error_of<FileError>([&] { write_safetensors(dir_ + "/no/where", {{"w", x}}); }), "cannot open");
}

// A pipe without another end would be waited for.
TEST_F(SafetensorsTest, refuses_what_is_no_file) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { SafetensorsFile file(path_); }), "is no regular file");
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { SafetensorsFile file(dir_); }), "is no regular file");
}

TEST_F(SafetensorsTest, refuses_a_file_that_is_cut) {
  write_safetensors(path_, {{"w", HostTensor({100}, f32)}});
  const std::string whole = bytes();
  for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, size_t{40}, whole.size() - 400, whole.size() - 1}) {
    write_bytes(whole.substr(0, size));
    EXPECT_CONTAINS(refusal(), path_) << size;
  }
  write_bytes(whole + "x");
  EXPECT_CONTAINS(refusal(), "the last 1 of 401 bytes belong to no tensor");
}

TEST_F(SafetensorsTest, refuses_a_huge_header_without_reading_it) {
  write_bytes("\xff\xff\xff\xff\xff\xff\xff\x7f{}");
  EXPECT_CONTAINS(refusal(), "more than 100000000 are refused");
  const uint64_t length = 90'000'000;
  write_bytes(std::string(reinterpret_cast<const char*>(&length), 8) + "{}");
  EXPECT_CONTAINS(refusal(), "ends behind the file");
}

TEST_F(SafetensorsTest, refuses_a_header_whose_values_would_take_much_more_memory_than_the_file) {
  std::string many = R"({"a":[0)";
  for (int i = 0; i < 500'000; ++i) many += ",0";
  EXPECT_CONTAINS(refusal_of(many + "]}"), "so many values that reading it could take");
  const std::string longest(12 << 20, 'n');
  EXPECT_CONTAINS(refusal_of("{\"" + longest + "\"x}"), "such long texts or so many values");
  EXPECT_CONTAINS(refusal_of(R"({"__metadata__":{"k":")" + longest + "\"}}"), "such long texts or so many values");
}

TEST_F(SafetensorsTest, the_writer_refuses_texts_that_readers_would_refuse) {
  const std::map<std::string, std::string> metadata = {{"k", std::string(12 << 20, 'v')}};
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { write_safetensors(path_, {}, metadata); }), "such long texts");
  write_safetensors(path_, {{"w", HostTensor({24 << 20}, u8)}}, metadata);
  EXPECT_EQ(SafetensorsFile(path_).metadata(), metadata) << "the tensors pay for it";
}

TEST_F(SafetensorsTest, refuses_what_is_no_such_json) {
  EXPECT_CONTAINS(refusal_of(""), "does not begin with {");
  EXPECT_CONTAINS(refusal_of(" {}"), "does not begin with {");
  EXPECT_CONTAINS(refusal_of("{\"a\":"), "no JSON");
  EXPECT_CONTAINS(refusal_of("{}{}"), "no JSON");
  EXPECT_CONTAINS(refusal_of(std::string("{}\0garbage", 10)), "a byte that is 0");
  EXPECT_CONTAINS(refusal_of("{\"\xff\":1}"), "no JSON");
  EXPECT_CONTAINS(refusal_of(R"({"a":[[[[[[1]]]]]]})"), "nests deeper");
  EXPECT_CONTAINS(refusal_of(R"({"a":3})"), "tensor 'a' is a number");
  EXPECT_CONTAINS(refusal_of(R"({"__metadata__":{"a":1}})"), "not a text");
  EXPECT_CONTAINS(refusal_of(R"({"__metadata__":[]})"), "__metadata__ is a array");
}

TEST_F(SafetensorsTest, refuses_wrong_fields_by_name) {
  const auto of = [&](const std::string& fields) { return refusal_of(R"({"w":{)" + fields + "}}", "1234"); };
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[1])"), "tensor 'w' has no data_offsets");
  EXPECT_CONTAINS(of(R"("dtype":"I16","shape":[2],"data_offsets":[0,4])"),
                  "dtype \"I16\", which is none of ours (F32, ");
  EXPECT_CONTAINS(of(R"("dtype":4,"shape":[1],"data_offsets":[0,4])"), "a dtype that is a number");
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "-1 in its shape");
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), "1.0 in its shape");
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "3 data_offsets");
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551615])"), "no size");
  EXPECT_CONTAINS(of(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1)"), "unknown field \"more\"");
}

TEST_F(SafetensorsTest, refuses_names_that_come_twice) {
  const std::string w = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_CONTAINS(refusal_of(R"({"w":)" + w + R"(,"w":)" + w + "}", "1"), "\"w\" comes twice");
  EXPECT_CONTAINS(refusal_of(R"({"w":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "1"),
                  "\"dtype\" comes twice");
}

TEST_F(SafetensorsTest, refuses_places_that_are_wrong) {
  const auto at = [](const std::string& name, const std::string& shape, int64_t begin, int64_t end) {
    return str("\"", name, R"(":{"dtype":"U8","shape":)", shape, R"(,"data_offsets":[)", begin, ",", end, "]}");
  };
  const auto of = [&](const std::string& a, const std::string& b) {
    return refusal_of("{" + a + "," + b + "}", "12345678");
  };
  EXPECT_CONTAINS(of(at("a", "[4]", 0, 4), at("b", "[5]", 3, 8)), "tensors 'a' and 'b' overlap at byte 3");
  EXPECT_CONTAINS(of(at("a", "[3]", 0, 3), at("b", "[4]", 4, 8)), "bytes 3 to 4 before tensor 'b' belong to none");
  EXPECT_CONTAINS(of(at("a", "[4]", 0, 4), at("b", "[5]", 4, 9)), "tensor 'b' lies at bytes 4 to 9 of 8");
  EXPECT_CONTAINS(of(at("a", "[4]", 0, 4), at("b", "[4]", 8, 4)), "tensor 'b' lies at bytes 8 to 4");
  EXPECT_CONTAINS(of(at("a", "[4]", 0, 4), at("b", "[3]", 4, 8)), "3 bytes, but has 4 in the file");
  EXPECT_CONTAINS(of(at("a", "[4294967296,4294967296,2]", 0, 4), at("b", "[4]", 4, 8)), "beyond all sizes");
}

TEST_F(SafetensorsTest, refuses_a_bool_that_is_none) {
  write_header(R"({"m":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\1\2", 3));
  const SafetensorsFile file(path_);
  EXPECT_CONTAINS(error_of<InvalidArgument>([&] { file.read("m"); }), "element 2 is neither 0 nor 1");
}

}  // namespace
}  // namespace martello
