#include <martello/base/checked.h>
#include <martello/data/fashion_mnist.h>
#include <martello/data/idx.h>
#include <martello/data/internal/test_flow.h>
#include <martello/data/speed.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace martello::data {
namespace {

using namespace internal;

class Idx : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    std::string path = str(::testing::TempDir(), "martello_idx_", getpid(), "_", files_.size());
    FILE* file = std::fopen(path.c_str(), "wb");
    EXPECT_NE(file, nullptr);
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
    files_.push_back(path);
    return path;
  }
  ~Idx() override {
    for (const std::string& path : files_) unlink(path.c_str());
  }

 private:
  std::vector<std::string> files_;
};

std::string big_endian(uint32_t v) {
  return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8), static_cast<char>(v)};
}

std::string header(uint32_t code, const std::vector<uint32_t>& dims) {
  std::string bytes = big_endian((code << 8) | static_cast<uint32_t>(dims.size()));
  for (uint32_t d : dims) bytes += big_endian(d);
  return bytes;
}

// "stored" blocks only, made by hand: a gzip file of the given bytes.
uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (unsigned char c : bytes) {
    crc ^= c;
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
  }
  return ~crc;
}
std::string little_endian(uint32_t v, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
  return out;
}
std::string gzipped(const std::string& bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + '\x01' + little_endian(size, 2) + little_endian(~size, 2) +
         bytes + little_endian(crc_of(bytes), 4) + little_endian(size, 4);
}

TEST_F(Idx, reads_plain_and_gzipped_bytes) {
  const std::string bytes = header(8, {2, 3}) + std::string("\x01\x02\x03\xff\x05\x06");
  const auto expected = HostTensor::of<uint8_t>({1, 2, 3, 255, 5, 6}, {2, 3});
  EXPECT_TRUE(read_idx(write(bytes)).same_bits(expected));
  EXPECT_TRUE(read_idx(write(gzipped(bytes))).same_bits(expected));
}

TEST_F(Idx, reads_wider_elements_in_the_order_of_this_machine) {
  EXPECT_TRUE(read_idx(write(header(0x0c, {2}) + big_endian(7) + big_endian(0xfffffffe)))
                  .same_bits(HostTensor::of<int32_t>({7, -2})));
  EXPECT_TRUE(read_idx(write(header(0x0d, {1}) + big_endian(0x3fc00000))).same_bits(HostTensor::of<float>({1.5f})));
  EXPECT_TRUE(read_idx(write(header(0x0e, {1}) + big_endian(0x3ff80000) + big_endian(0)))
                  .same_bits(HostTensor::of<double>({1.5})));
}

TEST_F(Idx, files_side_by_side_are_a_flow) {
  const auto flow = idx_files({write(header(8, {3, 2}) + "abcdef"), write(header(8, {3}) + "xyz")});
  EXPECT_EQ(all_of(flow)[2].signature(), "(u8[2], u8[])");
  EXPECT_EQ(all_of(flow)[2][1].scalar<uint8_t>(), 'z');
  check_flow(flow);
  EXPECT_ERROR(idx_files({write(header(8, {3}) + "xyz"), write(header(8, {2}) + "xy")}),
               "array 1 has 2 rows, array 0 has 3");
}

TEST_F(Idx, refuses_every_truncation) {
  const std::string plain = header(8, {2, 3}) + "abcdef", packed = gzipped(plain);
  for (size_t size = 0; size < plain.size(); ++size)
    EXPECT_THROW(read_idx(write(plain.substr(0, size))), Error) << size;
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_THROW(read_idx(write(packed.substr(0, size))), Error) << size;
}

TEST_F(Idx, refuses_damage_that_the_checksum_shows) {
  std::string packed = gzipped(header(8, {2, 3}) + "abcdef");
  packed[packed.size() - 10] = static_cast<char>(packed[packed.size() - 10] ^ 1);
  EXPECT_ERROR(read_idx(write(packed)), "is damaged");
}

TEST_F(Idx, refuses_bytes_that_nobody_asked_for) {
  EXPECT_ERROR(read_idx(write(header(8, {2}) + "abc")), "has more bytes than its shape asks for");
}

TEST_F(Idx, refuses_foreign_files) {
  EXPECT_ERROR(read_idx(write("%PDF-1.4 and so on")), "is not an IDX file");
  EXPECT_ERROR(read_idx(write(header(8, {}))), "is not an IDX file");
  EXPECT_ERROR(read_idx(write(header(9, {2}) + "ab")), "type code 9");
  EXPECT_ERROR(read_idx("/nowhere/images.gz"), "[idx '/nowhere/images.gz'] is not a file that can be opened");
  EXPECT_THROW(read_idx("/nowhere/images.gz"), NotFound);
  EXPECT_ERROR(read_idx("/tmp"), "is not a file");
  EXPECT_ERROR(read_idx("/dev/zero"), "is not a file");
}

TEST_F(Idx, refuses_a_pipe_without_waiting_for_it) {
  const std::string path = str(::testing::TempDir(), "martello_idx_pipe_", getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_ERROR(read_idx(path), "is not a file");
  unlink(path.c_str());
}

// Claims of up to 2^128 bytes, in files of a few bytes.
TEST_F(Idx, impossible_sizes_cost_no_memory) {
  const uint32_t most = 0xffffffff;
  std::vector<std::string> paths;
  for (const std::vector<uint32_t>& dims :
       {std::vector<uint32_t>{most}, {most, most}, {most, most, most, most}, {0x40000000, 4}}) {
    paths.push_back(write(header(8, dims) + "abc"));
    paths.push_back(write(header(0x0e, dims) + "abc"));
    paths.push_back(write(gzipped(header(8, dims) + "abc")));
  }
  paths.push_back(write(gzipped(header(8, {400000}) + std::string(1000, 'x'))));  // packing could hold that much
  rusage before;
  getrusage(RUSAGE_SELF, &before);
  for (const std::string& path : paths) EXPECT_THROW(read_idx(path), InvalidArgument);
  rusage after;
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

TEST_F(Idx, a_zero_anywhere_is_an_empty_tensor) {
  EXPECT_EQ(read_idx(write(header(8, {0, 28, 28}))).shape(), Shape(0, 28, 28));
  EXPECT_EQ(read_idx(write(header(8, {0xffffffff, 0xffffffff, 0xffffffff, 0}))).num_elements(), 0);
}

TEST(FashionMnist, is_images_in_the_unit_interval_and_labels) {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (access((folder + "/train-images-idx3-ubyte.gz").c_str(), R_OK) != 0)
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  auto [train, test] = fashion_mnist();
  EXPECT_EQ(train.size(), 60000);
  EXPECT_EQ(test.size(), 10000);
  EXPECT_EQ(train.description(), "fashion_mnist(train, 60000)");
  const auto first = train->iterate({})->next();
  EXPECT_EQ(first->signature(), "(f32[28, 28, 1], i32[])");
  EXPECT_EQ((*first)[1].scalar<int32_t>(), 9);  // an ankle boot
  EXPECT_EQ(fashion_mnist_labels()[9], "Ankle boot");
  std::vector<int> counts(10);
  double least = 1, greatest = 0;
  for (const Datapoint& dp : all_of(test)) {
    ++counts[static_cast<size_t>(dp[1].scalar<int32_t>())];
    for (float v : dp[0].data<float>()) least = std::min<double>(least, v), greatest = std::max<double>(greatest, v);
  }
  EXPECT_EQ(counts, std::vector<int>(10, 1000));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, 1);
  check_flow(train.shuffle().take(300).batch(128, {.remainder = true}));
}

TEST(FashionMnist, says_what_to_install) {
  EXPECT_ERROR(fashion_mnist("/nowhere"), "Install Debian's package dataset-fashion-mnist");
}

TEST(Speed, counts_datapoints_and_bytes) {
  const Silence silence;
  const Speed speed = test_speed(count_to(100).batch(10), {.size = 5, .warmup = 2});
  EXPECT_EQ(speed.datapoints, 5);
  EXPECT_EQ(speed.bytes, 400);
  EXPECT_GT(speed.per_second(), 0);
  EXPECT_EQ(test_speed(count_to(7), {}).datapoints, 7);
  EXPECT_ERROR(test_speed(count_to(7), {.size = 0}), "reads 0 datapoints");
  EXPECT_ERROR(test_speed({}), "holds no flow");
}

}  // namespace
}  // namespace martello::data
