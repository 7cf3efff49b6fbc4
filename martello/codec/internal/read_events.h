#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Reads what EventEncoder wrote, for tests: bit by bit and without its tables.
namespace martello::testing {

// Fields of one message, by number, in order.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes);  // throws InvalidArgument for what is no message
  bool has(int field) const { return fields_.contains(field); }
  size_t count(int field) const;
  uint64_t integer(int field) const;
  double float64(int field) const;
  float float32(int field) const;
  const std::string& bytes(int field, size_t i = 0) const;
  WireMessage message(int field, size_t i = 0) const { return WireMessage(bytes(field, i)); }
  std::vector<double> packed(int field) const;

 private:
  void add_field(std::string_view& rest);
  std::map<int, std::vector<std::string>> fields_;  // raw: little-endian numbers or bytes
};

// The payloads of a TFRecord file; throws InvalidArgument for a wrong checksum or a cut record.
std::vector<std::string> read_tf_records(std::string_view file);
uint32_t slow_crc32c(std::string_view bytes);

struct ReadScalar {
  std::string tag;
  int64_t step;
  float value;
  bool operator==(const ReadScalar&) const = default;
};
std::vector<ReadScalar> read_scalars(std::string_view file);

}  // namespace martello::testing
