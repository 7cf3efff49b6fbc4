#include <martello/codec/internal/wire.h>

#include <algorithm>

namespace martello::internal {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr size_t kMostVarintBytes = 10;

size_t encode_varint(char* out, uint64_t value) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = static_cast<char>(value | 0x80);
  out[n++] = static_cast<char>(value);
  return n;
}

}  // namespace

void WireWriter::varint(uint64_t value) {
  char text[kMostVarintBytes];
  out_.append(text, encode_varint(text, value));
}

void WireWriter::key(int field, int type) { varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type)); }

void WireWriter::integer(int field, int64_t value) {
  key(field, kVarint);
  varint(static_cast<uint64_t>(value));
}

void WireWriter::float32(int field, float value) {
  key(field, kFixed32);
  append_raw(out_, value);
}

void WireWriter::float64(int field, double value) {
  key(field, kFixed64);
  append_raw(out_, value);
}

void WireWriter::bytes(int field, std::string_view value) {
  key(field, kBytes);
  varint(value.size());
  out_ += value;
}

void WireWriter::packed(int field, std::span<const double> values) {
  bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

size_t WireWriter::begin_message(int field) {
  key(field, kBytes);
  out_ += '\0';  // most messages are shorter than 128 bytes, whose length is one byte
  return out_.size();
}

void WireWriter::end_message(size_t start) {
  char length[kMostVarintBytes];
  const size_t n = encode_varint(length, out_.size() - start);
  out_.insert(start, n - 1, '\0');
  std::copy_n(length, n, out_.begin() + static_cast<std::ptrdiff_t>(start) - 1);
}

}  // namespace martello::internal
