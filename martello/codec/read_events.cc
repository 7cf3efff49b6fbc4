#include <martello/base/error.h>
#include <martello/codec/internal/read_events.h>

#include <cstring>

namespace martello::testing {
namespace {

uint64_t take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    MARTELLO_CHECK(!rest.empty() && shift < 64, "a varint is cut or too long");
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

std::string take(std::string_view& rest, size_t n) {
  MARTELLO_CHECK(n <= rest.size(), "asked for ", n, " bytes of ", rest.size());
  std::string bytes(rest.substr(0, n));
  rest.remove_prefix(n);
  return bytes;
}

template <class T>
T number(const std::string& raw) {
  T value = {};
  MARTELLO_CHECK(raw.size() == sizeof value, "a number of ", raw.size(), " bytes");
  std::memcpy(&value, raw.data(), sizeof value);
  return value;
}

uint32_t unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace

WireMessage::WireMessage(std::string_view bytes) {
  while (!bytes.empty()) add_field(bytes);
}

void WireMessage::add_field(std::string_view& rest) {
  const uint64_t key = take_varint(rest);
  std::vector<std::string>& list = fields_[static_cast<int>(key >> 3)];
  switch (key & 7) {
    case 0: {
      const uint64_t value = take_varint(rest);
      list.emplace_back(reinterpret_cast<const char*>(&value), sizeof value);
      break;
    }
    case 1: list.push_back(take(rest, 8)); break;
    case 2: {
      const uint64_t length = take_varint(rest);
      list.push_back(take(rest, length));
      break;
    }
    case 5: list.push_back(take(rest, 4)); break;
    default: MARTELLO_CHECK(false, "wire type ", key & 7);
  }
}

size_t WireMessage::count(int field) const { return has(field) ? fields_.at(field).size() : 0; }
uint64_t WireMessage::integer(int field) const { return number<uint64_t>(bytes(field)); }
double WireMessage::float64(int field) const { return number<double>(bytes(field)); }
float WireMessage::float32(int field) const { return number<float>(bytes(field)); }

const std::string& WireMessage::bytes(int field, size_t i) const {
  MARTELLO_CHECK(i < count(field), "field ", field, " has ", count(field), " values");
  return fields_.at(field)[i];
}

std::vector<double> WireMessage::packed(int field) const {
  std::string_view rest = bytes(field);
  std::vector<double> values;
  while (!rest.empty()) values.push_back(number<double>(take(rest, sizeof(double))));
  return values;
}

uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
  }
  return ~crc;
}

std::vector<std::string> read_tf_records(std::string_view file) {
  std::vector<std::string> records;
  while (!file.empty()) {
    const std::string length = take(file, 8);
    MARTELLO_CHECK(unmask(number<uint32_t>(take(file, 4))) == slow_crc32c(length), "the length's checksum is wrong");
    records.push_back(take(file, number<uint64_t>(length)));
    MARTELLO_CHECK(unmask(number<uint32_t>(take(file, 4))) == slow_crc32c(records.back()), "a checksum is wrong");
  }
  return records;
}

std::vector<ReadScalar> read_scalars(std::string_view file) {
  std::vector<ReadScalar> scalars;
  for (const std::string& record : read_tf_records(file)) {
    const WireMessage event(record);
    if (!event.has(5)) continue;
    const WireMessage value = event.message(5).message(1);
    if (!value.has(2)) continue;
    scalars.push_back({value.bytes(1), static_cast<int64_t>(event.integer(2)), value.float32(2)});
  }
  return scalars;
}

}  // namespace martello::testing
